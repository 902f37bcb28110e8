#include "stream/json.h"

#include <charconv>

namespace gt {
namespace {

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 63));
    out += static_cast<char>(0x80 | (code & 63));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 63));
    out += static_cast<char>(0x80 | (code >> 6 & 63));
    out += static_cast<char>(0x80 | (code & 63));
  }
}

// Bytes of the character that begins here, 0 if none does.
size_t utf8_length(std::string_view text) {
  const auto byte = [text](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Too long a form, a surrogate, beyond the last character.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
      (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90)) {
    return 0;
  }
  return length;
}

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
  // A fraction or an exponent is no count.
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
    const size_t length = utf8_length(text_.substr(at_));
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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string json_quote(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace gt
