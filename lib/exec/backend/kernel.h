// A kernel: an op of a backend made ready for calls of one form. The types of
// its operands and the values of its keys are fixed; the data is not.
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

  // Computes the results. Called on the thread of its queue, one call at a
  // time, so a kernel may keep scratch memory between calls.
  //
  // in[i] is the data of the call's argument i, row-major, on the backend's
  // device; null when the argument is absent or is no tensor. A number of the
  // line (Argument::literal) is in memory of the host, whatever the device: 8
  // bytes of its weak dtype (f64, i64 or bool), which may change once run() has
  // returned. out[r] is the memory of result r, uninitialised. It is that of an
  // operand only where in_place() allows it.
  //
  // An error is about data (an index out of range, a division by zero) or about
  // what the machine lacks (no scratch memory), never about types; an exception
  // is taken for one. The results then count as failed, whatever was written.
  // A kernel may return before its work is done, in the order of its device. If
  // it then does not know yet whether the data is wrong, it leaves a check,
  // one, with the device (Device::take_check()), and refers to itself until
  // that was taken.
  virtual Status run(std::span<const void* const> in,
                     std::span<void* const> out) = 0;

  // Whether a device may record a run (Device::begin_recording()): all that the
  // run gives it are addresses of the device and numbers of the line.
  virtual bool may_be_recorded() const { return false; }

  // Whether result `result` may be written over the memory of operand
  // `operand`, whose value is lost. It is asked only where the two need memory
  // of one size class (memory/pool.h); what else must agree, such as the types,
  // is for the kernel to know.
  virtual bool in_place(size_t /*operand*/, size_t /*result*/) const {
    return false;
  }
};

}  // namespace gt::exec
