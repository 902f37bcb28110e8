// A backend computes: it makes the kernels of ops, and its Device says where
// the values live that they read and write.
//
// The thread that decodes lines asks for kernels (prepare()); the thread of a
// queue (queue/queue.h) runs them, in the order in which lines came. Memory is
// used again in that order, too, so the decoding thread may hand freed memory
// to the next line at once (memory/pool.h). A worker that is one of several has
// two backends of one kind: one computes, the other serves the communication
// thread (comm/engine.h).
//
// A backend whose device has an order of its own, such as a stream of CUDA, may
// return from Kernel::run before the work is done: see memory/device.h.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "exec/backend/kernel.h"
#include "exec/memory/device.h"
#include "ops/call.h"
#include "spmd/machine.h"

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

  // A kernel for the call; null when the backend has none. Then the op's
  // expansion is run instead; the line of a primitive, which has no expansion,
  // is rejected. What the call refers to may be gone after prepare(), so a
  // kernel copies what it keeps. May throw: then the line is rejected for what
  // the exception says. Called by the decoding thread, while kernels run.
  virtual std::unique_ptr<Kernel> prepare(const Call& call) = 0;
};

struct BackendOptions {
  int threads = 1;         // of compute, at least 1
  std::string_view isa;    // "": the best there is; else as --isa takes it
  Arena* arena = nullptr;  // where values live; null: memory of the process
  // Which of its devices, from 0 on; none: the backend chooses.
  std::optional<unsigned> device = std::nullopt;
  // The machine whose times the null backend keeps, asleep; none: it takes no
  // time. Other backends refuse it.
  std::optional<Machine> pace = std::nullopt;
};

}  // namespace gt::exec
