// The beginning of each entry of the fake device's driver.
#pragma once

#include <cuda.h>

#include "exec/backend/cuda/entry_points.h"
#include "machine.h"

namespace gt::fake {

inline thread_local bool is_current = false;  // this thread has a context
inline thread_local bool is_capturing = false;

// Each entry begins with this: it takes the lock, and fails if that was asked
// for.
#define GT_ENTER(failure)                               \
  gt::fake::Machine& m = gt::fake::Machine::instance(); \
  const std::lock_guard lock(m.mutex);                  \
  if (m.fails()) return failure;
#define GT_ENTER_CONTEXT(failure)                                         \
  GT_ENTER(failure)                                                       \
  if (!gt::fake::is_current) gt::fake::wrong("a call without a context"); \
  if (m.is_lost) return CUDA_ERROR_ILLEGAL_ADDRESS;
// This begins calls that a thread may not make while it captures: they might
// wait for ever, or have an effect only once.
#define GT_ENTER_UNCAPTURED(failure)                   \
  GT_ENTER_CONTEXT(failure)                            \
  if (gt::fake::is_capturing) {                        \
    gt::fake::wrong("a call that cannot be captured"); \
  }

inline Stream* of(CUstream stream) { return reinterpret_cast<Stream*>(stream); }
inline Event* of(CUevent event) { return reinterpret_cast<Event*>(event); }

}  // namespace gt::fake
