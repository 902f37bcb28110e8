#include "route/result_check.h"

#include <algorithm>

#include "base/message.h"
#include "base/reader.h"
#include "base/text.h"
#include "stream/line.h"
#include "stream/number.h"

namespace gt::route {
namespace {

constexpr std::string_view kTensor = " = tensor ";
constexpr std::string_view kFail = " = fail";

// The most bytes of a failure's line. A program may itself make a failure as
// long as a line, and the worker puts a place before its message.
constexpr size_t kMostFailure = Reader::kMaxLine + (size_t{64} << 10);
constexpr size_t kMostWord = 64;  // bytes of a value

bool is_value_of(std::string_view word, Dtype dtype) {
  if (dtype == Dtype::kBool) return word == "0" || word == "1";
  if (is_integer(dtype)) {
    int64_t value = 0;
    return read_number(word, value) && holds(dtype, value);
  }
  const auto number = parse_number(word);
  return number && number->kind != Number::Kind::kBool;
}

}  // namespace

std::string result_head(std::string_view label, const Type* type) {
  std::string head(label);
  if (type == nullptr) return head.append(kFail);
  return head.append(kTensor).append(to_string(*type));
}

std::string_view label_of(std::string_view head) {
  return head.substr(0, head.find(" = "));
}

void ResultCheck::begin(std::string_view head) {
  head_ = head;
  text_.clear();
  values_ = 0;
  has_failed_ = false;
  const size_t at = label_of(head).size();
  has_type_ = head.substr(at).starts_with(kTensor);
  if (has_type_) {
    const auto type = parse_type(head.substr(at + kTensor.size()));
    GT_CHECK(type.ok());
    type_ = type.value();
  }
  state_ = has_type_ ? State::kHead : State::kFailure;
}

Error ResultCheck::wrong(const std::string& what) const {
  return Error{"sent a result that is none: '" + excerpt(head_) +
               "' was asked for, and " + what};
}

Result<size_t> ResultCheck::take(std::string_view bytes) {
  return state_ == State::kValues ? take_values(bytes) : take_text(bytes);
}

// Collects the head and the byte behind it, which tell a value from a failure;
// and for a failure then the rest of the line.
Result<size_t> ResultCheck::take_text(std::string_view bytes) {
  const size_t newline = bytes.find('\n');
  size_t size = newline == std::string_view::npos ? bytes.size() : newline + 1;
  if (state_ == State::kHead) {
    size = std::min(size, head_.size() + 1 - text_.size());
  }
  text_.append(bytes.substr(0, size));
  const bool has_ended = text_.ends_with('\n');
  Status status = ok_status();
  if (state_ == State::kHead && (has_ended || text_.size() > head_.size())) {
    status = read_head();
  } else if (text_.size() > kMostFailure) {
    status = wrong("a failure of more than " + std::to_string(kMostFailure) +
                   " bytes came");
  }
  if (status.ok() && has_ended && state_ == State::kFailure) {
    status = check_failure();
  }
  if (!status.ok()) return status.error();
  return size;
}

Status ResultCheck::read_head() {
  const std::string_view begin(text_);
  if (!begin.starts_with(head_)) {
    state_ = State::kFailure;
    has_failed_ = true;
    const std::string_view label = label_of(head_);
    const std::string_view came = begin.substr(0, begin.size() - 1);
    const std::string failure = std::string(label).append(kFail);
    const size_t shared = std::min(came.size(), failure.size());
    if (came.substr(0, shared) == std::string_view(failure).substr(0, shared)) {
      return ok_status();
    }
    return wrong("'" + excerpt(came) + "' came");
  }
  const char after = begin.back();
  if (after != ' ' && after != '\n') return wrong("another type came");
  text_.clear();
  state_ = State::kValues;
  if (after == ' ') return ok_status();
  state_ = State::kNone;
  return check_count();
}

// Checks that the failure is one line of the language with nothing but a
// message, since the next program is to read it.
Status ResultCheck::check_failure() {
  state_ = State::kNone;
  const std::string_view line =
      std::string_view(text_).substr(0, text_.size() - 1);
  const std::string begin =
      std::string(label_of(head_)).append(kFail).append(" \"");
  Line parsed;
  const bool is_failure = line.starts_with(begin) &&
                          parse_line(line, parsed).ok() &&
                          parsed.operands.size() == 1 && parsed.keys.empty() &&
                          parsed.notes.empty() && parsed.remark.empty();
  if (is_failure) return ok_status();
  return wrong("'" + excerpt(line) + "' came");
}

// Checks values up to the newline. There must be one blank between two of them.
Result<size_t> ResultCheck::take_values(std::string_view bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    size_t end = at;
    while (end < bytes.size() && bytes[end] != ' ' && bytes[end] != '\n') ++end;
    std::string_view word = bytes.substr(at, end - at);
    const bool goes_on = end == bytes.size();
    if (goes_on || !text_.empty()) {
      text_.append(word.substr(0, kMostWord + 1));
      word = text_;
    }
    if (word.size() > kMostWord) {
      return wrong("'" + excerpt(word) + "' is too long for a value");
    }
    if (goes_on) return end;
    if (Status s = check_word(word); !s.ok()) return s.error();
    text_.clear();
    at = end + 1;
    if (bytes[end] != '\n') continue;
    state_ = State::kNone;
    if (Status s = check_count(); !s.ok()) return s.error();
    return at;
  }
  return at;
}

Status ResultCheck::check_word(std::string_view word) {
  if (++values_ > type_.elements()) return check_count();
  if (is_value_of(word, type_.dtype)) return ok_status();
  return wrong("'" + excerpt(word) + "' is no " +
               std::string(to_string(type_.dtype)));
}

Status ResultCheck::check_count() const {
  if (values_ == type_.elements()) return ok_status();
  return wrong((values_ < type_.elements() ? "only " : "more than ") +
               std::to_string(std::min(values_, type_.elements())) +
               " values came");
}

}  // namespace gt::route
