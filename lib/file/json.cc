#include "file/json.h"

#include <charconv>

#include "base/quoted.h"
#include "base/utf8.h"

namespace gt {
namespace {

bool is_high(uint32_t code) { return code >= 0xd800 && code < 0xdc00; }
bool is_low(uint32_t code) { return code >= 0xdc00 && code < 0xe000; }

}  // namespace

void JsonReader::skip() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
}

bool JsonReader::take(char c) {
  skip();
  if (at_ == text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonReader::at_end() {
  skip();
  return at_ == text_.size();
}

bool JsonReader::take_count(uint64_t& out) {
  skip();
  const char* begin = text_.data() + at_;
  const char* end = text_.data() + text_.size();
  const auto [next, error] = std::from_chars(begin, end, out);
  if (error != std::errc{}) return false;
  if (*begin == '0' && next - begin > 1) return false;
  at_ += static_cast<size_t>(next - begin);
  // A number with a fraction or an exponent is no count.
  return next == end || (*next != '.' && *next != 'e' && *next != 'E');
}

bool JsonReader::take_string(std::string& out) {
  out.clear();
  if (!take('"')) return false;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c == '\\') {
      if (!take_escape(out)) return false;
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20) return false;
    const size_t length = first_character(text_.substr(at_)).bytes;
    if (length == 0) return false;
    out += text_.substr(at_, length);
    at_ += length;
  }
  return false;
}

bool JsonReader::take_hex(uint32_t& out) {
  if (text_.size() - at_ < 4) return false;
  const char* begin = text_.data() + at_;
  const auto [next, error] = std::from_chars(begin, begin + 4, out, 16);
  if (error != std::errc{} || next != begin + 4) return false;
  at_ += 4;
  return true;
}

bool JsonReader::take_escape(std::string& out) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kBytes = "\"\\/\b\f\n\r\t";
  if (text_.size() - at_ < 2) return false;
  const char letter = text_[at_ + 1];
  at_ += 2;
  if (letter != 'u') {
    const size_t i = kLetters.find(letter);
    if (i == std::string_view::npos) return false;
    out += kBytes[i];
    return true;
  }
  uint32_t code = 0;
  if (!take_hex(code) || is_low(code)) return false;
  if (is_high(code)) {
    uint32_t low = 0;
    if (text_.substr(at_, 2) != "\\u") return false;
    at_ += 2;
    if (!take_hex(low) || !is_low(low)) return false;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  append_utf8(out, code);
  return true;
}

std::string json_quote(std::string_view text) {
  return quoted(text, {"\n", "n", "\\u00", ""});
}

}  // namespace gt
