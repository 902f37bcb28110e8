// The decoding thread's side of exchanges (comm/exchange.h): it takes memory
// for them, binds their results, and enqueues their start.
//
// The results of an exchange are bound at once, to memory that is not written
// yet; their buffers say so (Buffer::pending). The first line that reads one
// makes compute wait: it adopts the exchange. All memory of an exchange is
// referenced until it is taken back here (reap()), which is once all others
// have read it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/comm/engine.h"
#include "exec/decode/hosting.h"
#include "exec/decode/line_entry.h"
#include "exec/queue/compute_queue.h"
#include "exec/recipe/recipe_table.h"
#include "exec/worker/line_trace.h"

namespace gt::exec {

// What makes a worker one of several. Everything outlives it.
struct Attachment {
  unsigned self;  // below `workers`
  unsigned workers;
  comm::Communicator& communicator;
  // Kernels of the communication thread: a second backend, of one thread.
  Backend& backend;
  comm::Watch* watch = nullptr;  // is told of exchanges
};

class Exchanges {
 public:
  // All outlive it; `programs` has recipes of the attachment's backend.
  Exchanges(const Attachment& attachment, ComputeQueue& compute, Pool& pool,
            Registers& registers, LineTrace& trace);

  // Waits until all workers are connected. Error: who did not answer.
  Status connect() { return engine_.connect(); }

  // Begins the entry's exchange, and binds what it makes.
  std::shared_ptr<comm::ExchangeRun> begin(LineEntry& entry,
                                           const Where& origin);
  // Takes a fence, "#fence FROM TO,... FILE", without its first word. gt-route
  // sends one to the workers that it names, between lines that use one file on
  // several workers: a save and a load, say. On the workers TO, compute waits
  // there until FROM has run all lines before the fence and written what it
  // saves. Then they know which of its saves to FILE failed (storage/saves.h).
  // Error: it is malformed, or names a worker that there is not.
  Status fence(std::string_view words, const Where& origin);

  // Tells the communicator, in order with the exchanges, of sets of workers
  // over which sums will come.
  void group(std::vector<comm::Workers> sets, const Where& origin);

  // Enqueues a wait of compute for the exchange, unless there was one before.
  void adopt(comm::ExchangeRun& run);
  // The same for the exchanges that make the entry's operands.
  void adopt_operands(const LineEntry& entry) {
    if (unadopted_ > 0) adopt_each(entry);
  }
  // Takes back the memory of exchanges that all others have read; waits while
  // too many exchanges, or too much memory of theirs, are under way.
  void reap();
  // Waits until some memory comes back. False when no exchange is under way.
  bool wait_and_reap();

 private:
  // Memory that exchanges use is not used again before they end, so decoding
  // runs ahead of them only so far. With kEnough of them both threads are busy,
  // and it is better to use memory again that is in the cache than to touch
  // more than kWarm bytes.
  static constexpr size_t kEnough = 16;
  static constexpr size_t kWarm = size_t{32} << 20;
  static constexpr size_t kMostHeld = size_t{256} << 20;

  bool is_full() const {
    return outstanding_ >= comm::Engine::kMostOps ||
           (outstanding_ > 1 && held_ > kMostHeld) ||
           (outstanding_ > kEnough && held_ > kWarm);
  }
  void adopt_each(const LineEntry& entry);
  void show(const LineEntry& entry, comm::ExchangeRun& run);
  void make_room(LineEntry& entry, comm::ExchangeRun& run);
  Buffer* hold_target(const comm::Target& target, LineEntry& entry,
                      comm::ExchangeRun& run, comm::ExchangeRun::Made& made);
  Buffer* hold(uint32_t size_class, LineEntry& entry, comm::ExchangeRun& run);
  void bind_made(const LineEntry& entry, comm::ExchangeRun& run);
  void start(const std::shared_ptr<comm::ExchangeRun>& run);

  ComputeQueue& compute_;
  Pool& pool_;
  Registers& registers_;
  LineTrace& trace_;
  unsigned self_;
  unsigned workers_;
  comm::Communicator& communicator_;
  comm::Engine engine_;
  size_t outstanding_ = 0;  // exchanges that were not taken back
  size_t held_ = 0;         // bytes of theirs
  size_t unadopted_ = 0;    // of them, those that compute has not waited for
};

}  // namespace gt::exec
