// Whether what a worker sends are the results that it was asked for. It looks
// at the bytes as they come, so that no more of them is kept than a result can
// have, however much is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stream/type.h"

namespace gt::route {

// What the result of a print begins with: "x = tensor f32[4]". Null: the print
// is of a failure, which is all that can come: "x = fail".
std::string result_head(std::string_view label, const Type* type);
// "x"
std::string_view label_of(std::string_view head);

// Of the lines of one worker, one after the other.
class ResultCheck {
 public:
  // The next line answers the print with this head: it begins so and has as
  // many values as its type, or it is a failure under the head's label.
  void begin(std::string_view head);
  // Whether a line has begun and not ended.
  bool is_open() const { return state_ != State::kNone; }
  // Whether that line is a failure where a value was to be had.
  bool has_failed() const { return has_failed_; }
  // While a line is open: how many of the bytes belong to it. Error: it is no
  // result that was asked for.
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
  Type type_;  // where a value is expected
  bool has_type_ = false;
  bool has_failed_ = false;
  std::string text_;  // of the head, a failure, or a value that goes on
  int64_t values_ = 0;
};

}  // namespace gt::route
