// A Kernel is an op made ready by a backend for calls of one form: the types of
// the operands and the values of the keys are fixed, and the data is not.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"

namespace gt::exec {

class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  // Computes the results. Called on the thread of its queue, one call at a
  // time, so a kernel may keep scratch memory between calls.
  //
  // in[i] is the data of the call's argument i, row-major, on the backend's
  // device; it is null when the argument is absent or is not a tensor. A number
  // that stands in the line (Argument::literal) is in host memory, whatever the
  // device: 8 bytes of its weak dtype (f64, i64 or bool), which may change once
  // run() has returned. out[r] is the memory of result r, uninitialised. It is
  // the memory of an operand only where in_place() allows it.
  //
  // An error is about data (an index out of range, a division by zero) or about
  // something the machine lacks (no scratch memory), never about types; an
  // exception counts as an error. The results then count as failed, whatever
  // was written. A kernel may return before its work is done, in the order of
  // its device. If it does not know yet whether the data is wrong when it
  // returns, it leaves one check with the device (Device::take_check()); the
  // kernel must outlive that check, which refers to it.
  virtual Status run(std::span<const void* const> in,
                     std::span<void* const> out) = 0;

  // True if a device may record a run (Device::begin_recording()), that is, if
  // all that the run passes to the device are device addresses and numbers of
  // the line.
  virtual bool may_be_recorded() const { return false; }

  // True if result `result` may be written over the memory of operand
  // `operand`, whose value is then lost. It is asked only if both need memory
  // of one size class (memory/pool.h); the kernel itself must know what else
  // has to agree, such as the types.
  virtual bool in_place(size_t /*operand*/, size_t /*result*/) const {
    return false;
  }

  // Returns how many elements the result has if Backend::fuse() may make one
  // kernel of this and others of as many elements; else 0.
  virtual int64_t fusible_elements() const { return 0; }
};

}  // namespace gt::exec
