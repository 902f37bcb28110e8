#include "exec/comm/message.h"

#include <vector>

#include "base/message.h"
#include "base/text.h"

namespace gt::comm {
namespace {

using Kind = PeerMessage::Kind;

constexpr size_t kMaxHeader = 1024;
constexpr const char* kDigits = "0123456789abcdef";

constexpr struct {
  const char* word;
  Kind kind;
  size_t fields;
  bool has_body;
} kForms[] = {
    {"hello", Kind::kHello, 4, false},       {"ready", Kind::kReady, 6, false},
    {"fail", Kind::kFail, 4, true},          {"get", Kind::kGet, 9, false},
    {"released", Kind::kReleased, 4, false}, {"data", Kind::kData, 1, true},
    {"ask", Kind::kAsk, 0, false},           {"here", Kind::kHere, 0, false},
};

using Words = std::vector<std::string_view>;

Words split(std::string_view header) {
  Words words;
  for (size_t at = 0; at <= header.size();) {
    const size_t end = std::min(header.find(' ', at), header.size());
    words.push_back(header.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool read_tag(const Words& words, size_t at, Tag& tag) {
  return read_number(words[at], tag.seq) &&
         read_number(words[at + 1], tag.group) &&
         read_number(words[at + 2], tag.step) &&
         read_number(words[at + 3], tag.source);
}

bool read_sizes(std::string_view word, Shape& shape) {
  if (word == "-") return true;
  const auto sizes = parse_shape(word, false);
  if (!sizes.ok()) return false;
  shape = sizes.value();
  return !shape.empty();
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool read_token(std::string_view word, Token& token) {
  if (word.size() != 2 * token.size()) return false;
  for (size_t i = 0; i < token.size(); ++i) {
    const int high = hex_value(word[2 * i]);
    const int low = hex_value(word[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    token[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return true;
}

bool read_ready(const Words& words, PeerMessage& m) {
  const auto type = parse_type(words[5]);
  if (!type.ok() || !read_tag(words, 1, m.tag)) return false;
  m.type = type.value();
  return words[6] == "-" || (read_number(words[6], m.at) && m.at != kNowhere);
}

bool read_get(const Words& words, PeerMessage& m) {
  return read_number(words[1], m.id) && read_tag(words, 2, m.tag) &&
         read_number(words[6], m.first) && read_number(words[7], m.bytes) &&
         read_sizes(words[8], m.start) && read_sizes(words[9], m.count);
}

bool read_fields(const Words& words, PeerMessage& m) {
  switch (m.kind) {
    case Kind::kHello:
      return read_number(words[1], m.pid) && read_number(words[2], m.fd) &&
             read_number(words[3], m.size) && read_token(words[4], m.token);
    case Kind::kReady:
      return read_ready(words, m);
    case Kind::kFail:
    case Kind::kReleased:
      return read_tag(words, 1, m.tag);
    case Kind::kGet:
      return read_get(words, m);
    case Kind::kData:
      return read_number(words[1], m.id);
    case Kind::kAsk:
    case Kind::kHere:
      return true;
  }
  return false;
}

void append_number(std::string& out, uint64_t number) {
  out += ' ' + std::to_string(number);
}

void append_sizes(std::string& out, const Shape& shape) {
  out += ' ' + (shape.empty() ? "-" : to_string(shape));
}

}  // namespace

std::string to_string(const Tag& tag) {
  return std::to_string(tag.seq) + ' ' + std::to_string(tag.group) + ' ' +
         std::to_string(tag.step) + ' ' + std::to_string(tag.source);
}

Result<PeerMessage> parse_peer_message(std::string_view bytes) {
  const size_t end = bytes.substr(0, kMaxHeader).find('\n');
  if (end == std::string_view::npos) return Error{"it has no header"};
  const std::string_view header = bytes.substr(0, end);
  const Error wrong{"'" + excerpt(header) + "' is no header"};
  const Words words = split(header);
  for (const auto& form : kForms) {
    if (words[0] != form.word) continue;
    PeerMessage message;
    message.kind = form.kind;
    message.body = bytes.substr(end + 1);
    if (words.size() != form.fields + 1 || !read_fields(words, message) ||
        (!form.has_body && !message.body.empty())) {
      return wrong;
    }
    return message;
  }
  return wrong;
}

std::string to_text(const PeerMessage& m) {
  std::string out;
  for (const auto& form : kForms) {
    if (form.kind == m.kind) out = form.word;
  }
  switch (m.kind) {
    case Kind::kHello:
      append_number(out, m.pid);
      append_number(out, m.fd);
      append_number(out, m.size);
      out += ' ';
      for (const uint8_t byte : m.token) {
        out += {kDigits[byte >> 4], kDigits[byte & 15]};
      }
      break;
    case Kind::kReady:
      out += ' ' + to_string(m.tag);
      out += ' ' + to_string(m.type);
      out += ' ' + (m.at == kNowhere ? "-" : std::to_string(m.at));
      break;
    case Kind::kFail:
    case Kind::kReleased:
      out += ' ' + to_string(m.tag);
      break;
    case Kind::kGet:
      append_number(out, m.id);
      out += ' ' + to_string(m.tag);
      append_number(out, m.first);
      append_number(out, m.bytes);
      append_sizes(out, m.start);
      append_sizes(out, m.count);
      break;
    case Kind::kData:
      append_number(out, m.id);
      break;
    case Kind::kAsk:
    case Kind::kHere:
      break;
  }
  out += '\n';
  out += m.body;
  return out;
}

}  // namespace gt::comm
