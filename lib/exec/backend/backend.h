// What computes. A backend makes kernels and memory; a Queue (queue.h) runs the
// kernels in order on a thread of its own, so the interface is asynchronous:
// an enqueue gives an Event, and memory returns in queue order, so the caller
// may hand a freed buffer to the next enqueue at once.
//
// A backend with an order of its own (a CUDA stream) may return from
// Kernel::run before the work is done, provided that its kernels keep that
// order and that read() waits for it.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "exec/backend/kernel.h"
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

  // A kernel for the call; null when the backend has none, and then the op's
  // expansion is run instead. Primitives always have one. The call's text ends
  // with prepare(), so a kernel copies what it keeps.
  virtual std::unique_ptr<Kernel> prepare(const Call& call) = 0;

  // Memory that kernels can use, aligned to 64 bytes; null when there is none.
  // allocate() is called by the thread that enqueues, release() by the queue's.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* data, size_t bytes) = 0;

  // A value where this thread can read it: its own memory, or a copy in
  // `scratch`; null when it holds nothing and counts as zeros. Called on the
  // queue's thread.
  virtual const void* read(const void* data, size_t /*bytes*/,
                           std::vector<char>& /*scratch*/) {
    return data;
  }
  // False when values hold nothing (null): files are neither read nor written.
  virtual bool has_data() const { return true; }
};

struct BackendOptions {
  int threads = 1;         // of compute, at least 1
  std::string_view isa;    // "": the best there is; else as --isa takes it
  Arena* arena = nullptr;  // where values live; null: memory of the process
};

// "ref", "cpu" or "null". Errors: no such backend, an isa that is unknown or
// that this machine lacks.
Result<std::unique_ptr<Backend>> make_backend(std::string_view name,
                                              const BackendOptions& options);

}  // namespace gt::exec
