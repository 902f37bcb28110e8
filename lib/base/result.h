// A value or an Error. Errors are what the world can do wrong; our own bugs
// abort through GT_CHECK.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace gt {

struct Error {
  std::string message;
  size_t column = 0;  // 1-based byte column of the culprit, 0 if none
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit

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

[[noreturn]] void check_failed(const char* file, int line, const char* text);

}  // namespace gt

// Our own invariants. Never for input.
#define GT_CHECK(condition) \
  ((condition) ? (void)0 : ::gt::check_failed(__FILE__, __LINE__, #condition))
