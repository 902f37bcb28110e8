// Checks that what a worker sends are the result lines that it was asked for.
// It looks at the bytes as they come, so that a worker cannot make gt-route
// keep more than results of the types asked for can have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stream/type.h"

namespace gt::route {

// The head of a print's result line, which says what the worker is asked for:
// "x = tensor f32[4]". `type` is null if the value has failed already: "x =
// fail".
std::string result_head(std::string_view label, const Type* type);
// The label of a head: "x" of "x = tensor f32[4]".
std::string_view label_of(std::string_view head);

// Checks the lines of one worker, one after the other.
class ResultCheck {
 public:
  // The next line must answer this head: it begins with the head and has as
  // many values as the type, each of the dtype; or it is a failure with the
  // head's label ("x = fail "..."").
  void begin(std::string_view head);
  // Whether the line that begin() announced has not ended.
  bool is_open() const { return state_ != State::kNone; }
  // Whether the last line is a failure though a value was asked for.
  bool has_failed() const { return has_failed_; }
  // Takes bytes of the open line, and returns how many of them belong to it.
  // The line has ended when is_open() is false. Error: they are not what was
  // asked for; what then becomes of the worker, crew.h says.
  Result<size_t> take(std::string_view bytes);

 private:
  enum class State : uint8_t { kNone, kHead, kValues, kFailure };

  Result<size_t> take_text(std::string_view bytes);
  Result<size_t> take_values(std::string_view bytes);
  Status read_head();
  Status check_failure();
  Status check_word(std::string_view word);
  Status check_count() const;
  Error wrong(const std::string& what) const;

  State state_ = State::kNone;
  std::string head_;
  Type type_;              // of the head,
  bool has_type_ = false;  // if it has one
  bool has_failed_ = false;
  // What came of the head, of a failure, or of a value that has not ended.
  std::string text_;
  int64_t values_ = 0;  // that came
};

}  // namespace gt::route
