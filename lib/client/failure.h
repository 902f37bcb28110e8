// What lib/client throws inside: it is caught by the functions of gt/c.h
// (abi.cc) and nowhere else. Unlike the filters of gt, which go on with the
// next line, a client's caller must not go on as if the call had been made.
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

// The value of a result; of an error, it fails.
template <typename T>
T value_or_fail(Result<T> result, gt_fault fault) {
  if (!result.ok()) fail(fault, result.error().message);
  return std::move(result.value());
}

}  // namespace gt::client
