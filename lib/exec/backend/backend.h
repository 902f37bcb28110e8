// A Backend computes: it makes the kernels of ops, and its Device holds the
// values that the kernels read and write.
//
// The thread that decodes lines asks for kernels (prepare()); the thread of a
// queue (queue/queue.h) runs them, in the order in which the lines came. Memory
// is reused in that order, too, so the decoding thread may hand freed memory to
// the next line at once (memory/pool.h). A worker that is one of several has
// two backends of one kind: one computes, the other serves the communication
// thread (comm/engine.h).
//
// A backend whose device has an order of its own, such as a CUDA stream, may
// return from Kernel::run() before the work is done: see memory/device.h.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exec/backend/kernel.h"
#include "exec/memory/device.h"
#include "ops/call.h"
#include "spmd/machine.h"

namespace gt::exec {

class Arena;

// A kernel that is run as a step of a fused one.
struct FusedStep {
  const Kernel* kernel = nullptr;
  // By operand: the argument of the fused kernel that it is, or ~s if it is the
  // result of step s.
  std::vector<int32_t> in;
  // The result of the fused kernel to which this step's is written; -1: no line
  // reads it later, and it is written nowhere.
  int32_t out = -1;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // The device where the operands and results of this backend's kernels live.
  virtual Device& device() = 0;

  // Returns a kernel for the call, or null if the backend has none. Then the
  // op's expansion is run instead; a line whose op is a primitive, which has no
  // expansion, is rejected. What `call` refers to may be gone after prepare(),
  // so a kernel copies what it keeps. If prepare() throws, the line is rejected
  // and the exception's text is the reason. Called by the decoding thread,
  // while kernels run.
  virtual std::unique_ptr<Kernel> prepare(const Call& call) = 0;

  // Returns a kernel that does what these steps do one after the other, with
  // the same bits, and that cannot fail; null if the backend has none. A result
  // of the fused kernel may lie where an argument of the same size does. All
  // kernels have the same number of Kernel::fusible_elements(), and must
  // outlive the fused one.
  virtual std::unique_ptr<Kernel> fuse(std::span<const FusedStep> /*steps*/) {
    return nullptr;
  }
};

struct BackendOptions {
  // Number of threads that compute, at least 1.
  int threads = 1;
  // The instruction set, as --isa takes it; "" selects the best that the
  // machine has.
  std::string_view isa;
  // Where values live; null: in the memory of the process.
  Arena* arena = nullptr;
  // The number of the device to use, counted from 0; without one the backend
  // chooses.
  std::optional<unsigned> device = std::nullopt;
  // The machine that the null backend imitates by sleeping for as long as that
  // machine would take; without one it takes no time. Other backends refuse it.
  std::optional<Machine> pace = std::nullopt;
};

}  // namespace gt::exec
