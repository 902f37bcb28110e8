// Result: a value or an Error, which functions return instead of throwing. An
// Error reports what input, files and peers do wrong. A bug in gt itself ends
// the process through GT_CHECK.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace gt {

struct Error {
  std::string message;
  // The place in the line where the culprit begins, in bytes from 1; 0:
  // unknown.
  size_t column = 0;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit

  // value() of an error, and error() of a value, throw
  // std::bad_variant_access.
  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Unit {};
using Status = Result<Unit>;
inline Status ok_status() { return Unit{}; }

// Prints the place and the condition, and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* text);

}  // namespace gt

// Aborts if an invariant of gt itself does not hold. Never used to check input.
#define GT_CHECK(condition) \
  ((condition) ? (void)0 : ::gt::check_failed(__FILE__, __LINE__, #condition))
