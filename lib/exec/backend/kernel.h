// A primitive or fused op made ready for one call: fixed types and keys.
#pragma once

#include <span>

#include "base/result.h"

namespace gt::exec {

class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // in[i]: data of the call's argument i, row-major, on the backend's device;
  // null when it is absent or not a tensor. A literal's data
  // (Argument::literal) is 8 bytes of its weak dtype (f64, i64 or bool) in
  // memory of the host, which may change once run() has returned. out[r]: data
  // of result r, uninitialised; it may be the same memory as an operand only
  // when in_place() said so. Called on its queue's thread, one call at a time,
  // so a kernel may keep scratch memory. An error is about data (an index out
  // of range, a division by zero), never about types; a kernel that may say one
  // has done its work when it returns.
  virtual Status run(std::span<const void* const> in,
                     std::span<void* const> out) = 0;

  // Whether out[result] may be the memory of in[operand] (same bytes).
  virtual bool in_place(size_t /*operand*/, size_t /*result*/) const {
    return false;
  }
};

}  // namespace gt::exec
