// ResultCheck: checks that a worker sends the result lines that it was asked
// for. It looks at the bytes as they come, so that a worker cannot make
// gt-route keep more than results of the expected types can have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stream/type.h"

namespace gt::route {

// Returns the head of a print's result line, which says what the worker is
// asked for: "x = tensor f32[4]". If `type` is null, the value has failed
// already: "x = fail".
std::string result_head(std::string_view label, const Type* type);
// Returns the label of a head: "x" of "x = tensor f32[4]".
std::string_view label_of(std::string_view head);

// Checks the lines of one worker, one after the other.
class ResultCheck {
 public:
  // Begins a line, which must answer this head: either it begins with the head
  // and has as many values as the type, each of the dtype; or it is a failure
  // with the head's label ("x = fail "..."").
  void begin(std::string_view head);
  // True if the line that begin() announced has not ended.
  bool is_open() const { return state_ != State::kNone; }
  // True if the last line is a failure though a value was asked for.
  bool has_failed() const { return has_failed_; }
  // Takes bytes of the open line, and returns how many of them belong to it.
  // The line has ended when is_open() is false. Error: the bytes are not what
  // was asked for; worker_pool.h says what then happens to the worker.
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
  Type type_;              // the head's type
  bool has_type_ = false;  // false: the head has no type
  bool has_failed_ = false;
  // What has come so far of the head, of a failure, or of a value.
  std::string text_;
  int64_t values_ = 0;  // values that have come
};

}  // namespace gt::route
