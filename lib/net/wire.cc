#include "net/wire.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/message.h"
#include "base/printable.h"
#include "base/text.h"
#include "stream/line.h"

namespace gt::net {
namespace {

constexpr std::array<std::string_view, 28> kVerbs = {
    "hello",  "results", "report", "done", "ran",    "bye",   "welcome",
    "refuse", "lines",   "block",  "hot",  "forget", "beat",  "end",
    "gone",   "abort",   "input",  "text", "room",   "taken", "watch",
    "state",  "get",     "data",   "sum",  "put",    "piece", "kept"};

bool is_word(std::string_view value) {
  return !value.empty() && std::ranges::none_of(value, [](char c) {
    return c == ' ' || c == '"' || c == '#' || is_control(c);
  });
}

bool is_key(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || c == '_';
  });
}

// Returns the length of the quoted string at the front of `rest`, 0 if there is
// none.
size_t quoted_length(std::string_view rest) {
  for (size_t i = 1; i < rest.size();) {
    if (rest[i] == '"') return i + 1;
    if (rest[i] == '#' || is_control(rest[i])) return 0;
    const bool escaped = rest[i] == '\\';
    const size_t length = escaped ? escape_length(rest.substr(i)) : 1;
    if (length == 0) return 0;
    i += length;
  }
  return 0;
}

// Takes " key=value" off the front of `rest`.
Result<Fields::Field> take_field(std::string_view& rest) {
  const auto error = [&rest] {
    return Error{"'" + excerpt(rest) + "' where a field key=value is expected"};
  };
  const size_t equal = rest.find('=');
  if (rest.empty() || rest[0] != ' ' || equal == std::string_view::npos) {
    return error();
  }
  Fields::Field field{rest.substr(1, equal - 1), rest.substr(equal + 1)};
  std::string_view after = field.value;
  field.value = take_value(after);
  if (!is_key(field.key) || field.value.empty()) return error();
  rest = after;
  return field;
}

// Checks the last field, size=, against the body, and removes it.
Status check_size(Message& message) {
  uint64_t size = 0;
  if (message.fields.empty() || message.fields.back().key != "size" ||
      !read_number(message.fields.back().value, size)) {
    return Error{"no size= at the header's end"};
  }
  message.fields.pop_back();
  if (size == message.body.size()) return ok_status();
  return Error{"size=" + std::to_string(size) + ", but the body has " +
               std::to_string(message.body.size()) + " bytes"};
}

}  // namespace

std::string_view name_of(Verb verb) {
  return kVerbs[static_cast<size_t>(verb)];
}

Result<Fields> parse_fields(std::string_view text) {
  Fields parsed;
  while (!text.empty()) {
    const auto field = take_field(text);
    if (!field.ok()) return field.error();
    const std::string_view key = field.value().key;
    if (parsed.find(key) != nullptr) {
      return Error{"field " + std::string(key) + "= twice"};
    }
    if (parsed.fields.size() > kMaxFields) {
      return Error{"more than " + std::to_string(kMaxFields) + " fields"};
    }
    parsed.fields.push_back(field.value());
  }
  return parsed;
}

const std::string_view* Fields::find(std::string_view key) const {
  const auto found = std::ranges::find(fields, key, &Field::key);
  return found == fields.end() ? nullptr : &found->value;
}

std::string Fields::text(std::string_view key) const {
  const std::string_view* value = find(key);
  return value == nullptr ? std::string() : unquote(*value);
}

std::string_view take_value(std::string_view& rest) {
  const bool is_quoted = rest.starts_with('"');
  const size_t length =
      is_quoted ? quoted_length(rest) : std::min(rest.find(' '), rest.size());
  const std::string_view value = rest.substr(0, length);
  if (!is_quoted && !is_word(value)) return {};
  rest.remove_prefix(length);
  return value;
}

std::string value_text(std::string_view text) {
  return is_word(text) ? std::string(text) : quote(text);
}

bool uses_credit(std::string_view bytes) {
  const std::string_view word = bytes.substr(0, bytes.find(' '));
  return word == name_of(Verb::kLines) || word == name_of(Verb::kBlock) ||
         word == name_of(Verb::kHot);
}

Result<Message> parse_message(std::string_view bytes) {
  if (bytes.size() > kMaxMessage) {
    return Error{"a message of " + std::to_string(bytes.size()) +
                 " bytes; the most is " + std::to_string(kMaxMessage)};
  }
  const size_t newline = bytes.substr(0, kMaxHeader).find('\n');
  if (newline == std::string_view::npos) return Error{"no header line"};
  const std::string_view header = bytes.substr(0, newline);
  const std::string_view word = header.substr(0, header.find(' '));
  const auto* verb = std::ranges::find(kVerbs, word);
  if (verb == kVerbs.end()) {
    return Error{"'" + excerpt(word) + "' is not what a message begins with"};
  }
  Message message;
  message.verb = static_cast<Verb>(verb - kVerbs.begin());
  message.body = bytes.substr(newline + 1);
  auto parsed = parse_fields(header.substr(word.size()));
  Status status = ok_status();
  if (parsed.ok()) {
    message.fields = std::move(parsed.value().fields);
    status = check_size(message);
  } else {
    status = parsed.error();
  }
  if (!status.ok()) {
    return Error{std::string(word) + ": " + status.error().message};
  }
  return message;
}

Result<uint64_t> number(const Message& message, std::string_view key) {
  const std::string_view* value = message.find(key);
  uint64_t parsed = 0;
  const std::string verb(name_of(message.verb));
  if (value == nullptr) return Error{verb + ": no " + std::string(key) + "="};
  if (read_number(*value, parsed)) return parsed;
  return Error{verb + ": " + std::string(key) + "=" + excerpt(*value) +
               " is not a number"};
}

uint64_t NumberReader::need(std::string_view key) {
  const auto value = number(message_, key);
  if (value.ok()) return value.value();
  if (status_.ok()) status_ = value.error();
  return 0;
}

Result<Exit> status_of(const Message& message) {
  const auto value = number(message, "status");
  if (!value.ok()) return value.error();
  for (const Exit exit : {Exit::kDone, Exit::kFailed, Exit::kUsage,
                          Exit::kRejected, Exit::kLost, Exit::kInterrupted}) {
    if (value.value() == static_cast<uint64_t>(exit)) return exit;
  }
  return Error{std::string(name_of(message.verb)) + ": status=" +
               std::to_string(value.value()) + " is not an exit status of gt"};
}

std::string_view words(std::string_view text) {
  return text.substr(0, kMaxWords);
}

Status check_words(const Message& message) {
  const bool has_status =
      message.verb == Verb::kReport || message.verb == Verb::kBye;
  if (has_status) {
    if (const auto status = status_of(message); !status.ok()) {
      return status.error();
    }
  }
  if (!has_status && message.verb != Verb::kDone) return ok_status();
  if (message.body.size() <= kMaxWords) return ok_status();
  return Error{std::string(name_of(message.verb)) + ": has " +
               std::to_string(message.body.size()) + " bytes for people; " +
               std::to_string(kMaxWords) + " are the most"};
}

Status check_after(const Message& message, uint64_t last) {
  const auto after = number(message, "after");
  if (!after.ok()) return after.error();
  if (after.value() == last) return ok_status();
  return Error{std::string(name_of(message.verb)) + " follows on seq " +
               std::to_string(after.value()) + ", but " + std::to_string(last) +
               " came last: a message is missing"};
}

namespace {

// True if the numbers of all rounds are within range.
bool fits(const LinesHeader& header) {
  constexpr uint64_t kMost = uint64_t{1} << 62;
  if (header.times == 0) return false;
  const auto ends = [&header](uint64_t first, uint64_t by) {
    uint64_t last = 0;
    return !__builtin_mul_overflow(header.times - 1, by, &last) &&
           !__builtin_add_overflow(first, last, &last) && last < kMost;
  };
  return ends(header.seq, header.seq_by) &&
         ends(static_cast<uint64_t>(header.line), header.line_by);
}

}  // namespace

Result<LinesHeader> lines_header(const Message& message, uint64_t last) {
  if (Status s = check_after(message, last); !s.ok()) return s.error();
  NumberReader numbers(message);
  const uint64_t seq = numbers.need("seq");
  const auto line = static_cast<int64_t>(numbers.need("line"));
  const LinesHeader header{seq, line, numbers.find("times", 1),
                           numbers.find("seq_by"), numbers.find("line_by")};
  if (!numbers.status().ok()) return numbers.status().error();
  if (fits(header)) return header;
  return Error{std::string(name_of(message.verb)) +
               ": its numbers are no numbers of lines"};
}

MessageWriter::MessageWriter(Verb verb) : verb_(verb), text_(name_of(verb)) {}

MessageWriter& MessageWriter::field(std::string_view key,
                                    std::string_view value) {
  text_.append(" ").append(key).append("=").append(value_text(value));
  return *this;
}

MessageWriter& MessageWriter::field(std::string_view key, uint64_t value) {
  return field(key, std::to_string(value));
}

std::string MessageWriter::head(size_t body_size) const {
  std::string out = text_ + " size=" + std::to_string(body_size) + '\n';
  GT_CHECK(out.size() <= kMaxHeader && body_size <= kMaxBody);
  return out;
}

std::string MessageWriter::finish(std::string_view body) const {
  return head(body.size()).append(body);
}

std::vector<std::string> MessageWriter::finish_all(std::string_view body) {
  std::vector<std::string> out;
  while (body.size() > kMaxBody) {
    out.push_back(field("more", 1).finish(body.substr(0, kMaxBody)));
    body.remove_prefix(kMaxBody);
    text_ = name_of(verb_);
  }
  out.push_back(finish(body));
  return out;
}

namespace {

// Adds the numbers of a mark "#+A B" to `seq` and `line`.
bool read_mark(std::string_view mark, uint64_t& seq, int64_t& line) {
  mark.remove_prefix(2);
  const size_t blank = mark.find(' ');
  uint64_t add_seq = 0;
  int64_t add_line = 0;
  return blank != std::string_view::npos &&
         read_number(mark.substr(0, blank), add_seq) &&
         read_number(mark.substr(blank + 1), add_line) &&
         !__builtin_add_overflow(seq, add_seq, &seq) &&
         !__builtin_add_overflow(line, add_line, &line);
}

// These wrap around, since a peer may send any number as a line.
int64_t next_of(int64_t line) {
  return static_cast<int64_t>(static_cast<uint64_t>(line) + 1);
}
int64_t difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}

// Appends "#+A B" and a newline.
void append_mark(std::string& body, uint64_t seq, int64_t line) {
  char mark[64] = "#+";
  char* const end = mark + sizeof mark;
  char* at = std::to_chars(mark + 2, end, seq).ptr;
  *at++ = ' ';
  at = std::to_chars(at, end, line).ptr;
  *at++ = '\n';
  body.append(mark, at);
}

}  // namespace

Result<bool> NumberedLines::next(Item& item) {
  while (!rest_.empty()) {
    const size_t newline = rest_.find('\n');
    item.is_whole = newline != std::string_view::npos;
    item.text = rest_.substr(0, newline);
    rest_.remove_prefix(item.text.size() + (item.is_whole ? 1 : 0));
    if (item.text.starts_with("#+")) {
      if (read_mark(item.text, seq_, line_)) continue;
      return Error{"'" + excerpt(item.text) + "' is not a mark #+SEQ LINE"};
    }
    item.seq = seq_;
    item.line = line_;
    if (takes_number(item.text)) {
      ++seq_;
      line_ = next_of(line_);
    }
    return true;
  }
  return false;
}

void BodyWriter::add(uint64_t seq, int64_t line, std::string_view text) {
  if (takes_number(text)) {
    if (!has_number_) {
      first_seq_ = seq;
      first_line_ = line;
    } else if (seq != next_seq_ || line != next_line_) {
      GT_CHECK(seq >= next_seq_);
      append_mark(body_, seq - next_seq_, difference(line, next_line_));
    }
    has_number_ = true;
    next_seq_ = seq + 1;
    next_line_ = next_of(line);
  }
  // Reserves room for the newline too, which would otherwise copy a long line
  // again.
  const size_t size = body_.size() + text.size() + 1;
  if (size > body_.capacity()) {
    body_.reserve(std::max(size, 2 * body_.capacity()));
  }
  body_.append(text).push_back('\n');
}

std::string BodyWriter::take() {
  std::string body = std::move(body_);
  *this = BodyWriter();
  return body;
}

void BodyWriter::drop_front(size_t at, uint64_t seq, int64_t line) {
  body_.erase(0, at);
  first_seq_ = seq;
  first_line_ = line;
}

void BodyWriter::clear() {
  std::string body = take();
  body.clear();
  body_ = std::move(body);
}

}  // namespace gt::net
