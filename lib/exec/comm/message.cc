#include "exec/comm/message.h"

#include <utility>

#include "base/hex.h"
#include "base/message.h"
#include "base/text.h"

namespace gt::exec::comm {
namespace {

using Kind = PeerMessage::Kind;

constexpr size_t kMaxHeader = 1024;

constexpr struct {
  const char* word;
  Kind kind;
  bool has_body;
} kForms[] = {
    {"hello", Kind::kHello, true},        {"ready", Kind::kReady, false},
    {"fail", Kind::kFail, true},          {"get", Kind::kGet, false},
    {"released", Kind::kReleased, false}, {"data", Kind::kData, true},
    {"nodata", Kind::kNoData, true},      {"ask", Kind::kAsk, false},
    {"here", Kind::kHere, false},         {"take", Kind::kTake, true},
    {"link", Kind::kLink, false},         {"linked", Kind::kLinked, false},
    {"unlinked", Kind::kUnlinked, true},  {"split", Kind::kSplit, true},
    {"leaving", Kind::kLeaving, false},
};

// Calls use(field) for the fields behind the header's first word, in order,
// until it returns false.
template <typename Message, typename Use>
bool each_field(Message& m, Use use) {
  switch (m.kind) {
    case Kind::kHello:
      return use(m.pid) && use(m.fd) && use(m.size) && use(m.token) &&
             use.word(m.link_kinds) && use.word(m.devices) &&
             use.flag(m.has_fast_sums);
    case Kind::kReady:
      return use(m.tag) && use(m.type) && use.offset(m.at);
    case Kind::kFail:
    case Kind::kReleased:
      return use(m.tag);
    case Kind::kGet:
      return use(m.id) && use(m.tag) && use(m.first) && use(m.bytes) &&
             use(m.start) && use(m.count);
    case Kind::kData:
    case Kind::kNoData:
      return use(m.id);
    case Kind::kTake:
      return use(m.tag.seq) && use(m.tag.group) && use(m.tag.step);
    case Kind::kLink:
      return use.word(m.link) && !m.link.empty();
    case Kind::kAsk:
    case Kind::kHere:
    case Kind::kLinked:
    case Kind::kUnlinked:
    case Kind::kSplit:
    case Kind::kLeaving:
      return true;
  }
  return false;
}

// Reads fields from words, each after one blank.
struct FieldReader {
  std::string_view& rest;

  // Returns "", which is no valid field, if no word is left.
  std::string_view next() const {
    if (rest.empty()) return {};
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    return word;
  }
  template <typename Number>
  bool operator()(Number& number) const {
    return read_number(next(), number);
  }
  bool operator()(Tag& tag) const {
    return (*this)(tag.seq) && (*this)(tag.group) && (*this)(tag.step) &&
           (*this)(tag.source);
  }
  bool operator()(Type& type) const {
    auto read = parse_type(next());
    if (read.ok()) type = read.value();
    return read.ok();
  }
  bool operator()(Shape& sizes) const {
    const std::string_view word = next();
    if (word == "-") return true;
    const auto read = parse_shape(word, false);
    if (read.ok()) sizes = read.value();
    return read.ok() && !sizes.empty();
  }
  bool operator()(Token& token) const {
    return from_hex(next(),
                    {reinterpret_cast<char*>(token.data()), token.size()});
  }
  // Reads a text; "-" stands for "".
  bool word(std::string& text) const {
    const std::string_view word = next();
    if (word != "-") text = word;
    return !word.empty();
  }
  bool flag(bool& is_so) const {
    const std::string_view word = next();
    is_so = word == "1";
    return is_so || word == "0";
  }
  bool offset(uint64_t& at) const {
    const std::string_view word = next();
    return word == "-" || (read_number(word, at) && at != kNowhere);
  }
};

struct FieldWriter {
  std::string& out;

  bool add(std::string_view word) const {
    out.append(" ").append(word);
    return true;
  }
  bool operator()(uint64_t number) const { return add(std::to_string(number)); }
  bool operator()(const Tag& tag) const { return add(to_string(tag)); }
  bool operator()(const Type& type) const { return add(to_string(type)); }
  bool operator()(const Shape& sizes) const {
    return add(sizes.empty() ? "-" : to_string(sizes));
  }
  bool operator()(const Token& token) const {
    return add(
        to_hex({reinterpret_cast<const char*>(token.data()), token.size()}));
  }
  bool word(std::string_view text) const {
    return add(text.empty() ? "-" : text);
  }
  bool flag(bool is_so) const { return add(is_so ? "1" : "0"); }
  bool offset(uint64_t at) const {
    return add(at == kNowhere ? "-" : std::to_string(at));
  }
};

}  // namespace

std::string to_string(const Tag& tag) {
  return std::to_string(tag.seq) + ' ' + std::to_string(tag.group) + ' ' +
         std::to_string(tag.step) + ' ' + std::to_string(tag.source);
}

Result<PeerMessage> parse_peer_message(std::string_view bytes) {
  const size_t end = bytes.substr(0, kMaxHeader).find('\n');
  if (end == std::string_view::npos) return Error{"it has no header"};
  const std::string_view header = bytes.substr(0, end);
  std::string_view rest = header;
  rest.remove_prefix(std::min(header.find(' '), header.size()));
  for (const auto& form : kForms) {
    if (header.substr(0, header.size() - rest.size()) != form.word) continue;
    PeerMessage message;
    message.kind = form.kind;
    message.body = bytes.substr(end + 1);
    if (each_field(message, FieldReader{rest}) && rest.empty() &&
        (form.has_body || message.body.empty())) {
      return message;
    }
  }
  return Error{"'" + excerpt(header) + "' is no header"};
}

std::string to_text(const PeerMessage& m) {
  std::string out;
  for (const auto& form : kForms) {
    if (form.kind == m.kind) out = form.word;
  }
  each_field(m, FieldWriter{out});
  out += '\n';
  out += m.body;
  return out;
}

std::string to_text(const TakenRegion& region) {
  std::string out = std::to_string(region.source);
  const FieldWriter write{out};
  write(region.start);
  write(region.count);
  return out + '\n';
}

Result<Taken> parse_taken(std::string_view body) {
  Taken taken;
  taken.sums = body.starts_with(kTakenSum);
  if (taken.sums) body.remove_prefix(kTakenSum.size());
  while (!body.empty()) {
    const size_t end = body.find('\n');
    std::string line = " ";  // FieldReader expects a blank before each field
    line += body.substr(0, end);
    std::string_view rest = line;
    const FieldReader read{rest};
    TakenRegion region;
    if (end == std::string_view::npos || !read(region.source) ||
        !read(region.start) || !read(region.count) || !rest.empty()) {
      return Error{"'" + excerpt(body.substr(0, end)) + "' is no region"};
    }
    taken.regions.push_back(region);
    body.remove_prefix(end + 1);
  }
  return taken;
}

}  // namespace gt::exec::comm
