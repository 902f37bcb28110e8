// Failure: the exception of lib/client. The functions of gt/c.h (abi.cc) catch
// it, and nothing else does. It is an exception since a client's caller must
// not go on as if the call had been made, unlike the filters of gt, which go on
// with the next line.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "client/include/gt/c.h"

namespace gt::client {

struct Failure {
  gt_fault fault;
  std::string message;
};

[[noreturn]] inline void fail(gt_fault fault, std::string message) {
  throw Failure{fault, std::move(message)};
}

// Returns the value of a result. Fails if that is an error.
template <typename T>
T value_or_fail(Result<T> result, gt_fault fault) {
  if (!result.ok()) fail(fault, result.error().message);
  return std::move(result.value());
}

}  // namespace gt::client
