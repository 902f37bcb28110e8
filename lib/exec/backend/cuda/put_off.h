// Runs that a device puts off, to give them to the GPU together with those that
// follow. Whatever else the device is told first gives it what was put off, so
// nobody can tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "exec/backend/cuda/gpu.h"
#include "exec/backend/cuda/plan.h"

namespace gt::exec::cuda {

// Memory of a device that a run reads or writes.
struct Extent {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  bool overlaps(const Extent& other) const {
    return begin < other.begin + other.bytes && other.begin < begin + bytes;
  }
};

// A launch that is ready: a function, and what it is given.
struct ReadyLaunch {
  CUfunction function = nullptr;
  int64_t blocks = 1;
  Args args;
  const Items* items = nullptr;  // of a kernel that takes them
};

class PutOff {
 public:
  PutOff() = default;
  PutOff(const PutOff&) = delete;
  PutOff& operator=(const PutOff&) = delete;
  virtual ~PutOff() = default;

  // What a run wrote there is read no more.
  virtual void forget(uint64_t /*out*/) {}
  // How many of the runs have left checks.
  virtual size_t checks() const { return 0; }
  // The run that was put off last is the last of a line.
  virtual void end_line() = 0;

  // Takes launches that do the work of so many lines. There may be none for
  // lines that made nothing that is read.
  using Give =
      std::function<void(std::span<const ReadyLaunch> launches, size_t lines)>;
  // Gives what is to be launched for all runs, in order; then there are none.
  // With `waits` it is as few launches as can be, even if these must be
  // compiled first.
  virtual void take(bool waits, const Give& give) = 0;
};

}  // namespace gt::exec::cuda
