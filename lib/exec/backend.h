// What executes. The interface is asynchronous: work is enqueued on in-order
// queues, an enqueue gives an event, and memory returns in queue order, so the
// caller may hand a freed buffer to the next enqueue at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "exec/kernel.h"
#include "ops/call.h"

namespace gt {

// What a queue writes its error into and readers spread from. Set and read on
// the queue's side only.
struct Fault;

// Memory of one value. Owned by the store that made it; touched by queues.
struct Buffer {
  void* data = nullptr;
  size_t bytes = 0;
  std::shared_ptr<const Fault> fault;  // poison; null when the value is good
};

// Position on a queue: done once the queue has run that far.
struct Event {
  uint32_t queue = 0;
  uint64_t ticket = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;

  // A kernel for the call; null when the backend has none, and then the op's
  // expansion is run instead. Primitives always have one.
  virtual std::unique_ptr<Kernel> prepare(const Call& call) = 0;

  // Memory that kernels can use, aligned to 64 bytes; null when there is none.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* data, size_t bytes) = 0;
};

struct BackendOptions {
  int threads = 1;       // of compute, at least 1
  std::string_view isa;  // "", "avx2", "avx512": "" is the best there is
};

// "ref", "cpu" or "null"; null when there is no such backend.
std::unique_ptr<Backend> make_backend(std::string_view name,
                                      const BackendOptions& options);

}  // namespace gt
