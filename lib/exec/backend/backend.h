// What computes: a backend makes kernels, and says where their values live. A
// Queue (queue.h) runs the kernels in order on a thread of its own, so the
// interface is asynchronous: an enqueue gives an Event, and memory returns in
// queue order, so the caller may hand a freed buffer to the next enqueue at
// once.
//
// A backend with an order of its own (a stream of CUDA) may return from
// Kernel::run before the work is done, see Device.
#pragma once

#include <memory>
#include <string_view>

#include "exec/backend/kernel.h"
#include "exec/memory/device.h"
#include "ops/call.h"

namespace gt::exec {

class Arena;

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Where its kernels' operands and results live.
  virtual Device& device() = 0;

  // A kernel for the call; null when the backend has none, and then the op's
  // expansion is run instead. Primitives always have one. The call's text ends
  // with prepare(), so a kernel copies what it keeps.
  virtual std::unique_ptr<Kernel> prepare(const Call& call) = 0;
};

struct BackendOptions {
  int threads = 1;         // of compute, at least 1
  std::string_view isa;    // "": the best there is; else as --isa takes it
  Arena* arena = nullptr;  // where values live; null: memory of the process
};

}  // namespace gt::exec
