// What a worker does with others: the decoding thread's side of exchanges.
//
// The results of an exchange are bound at once, to memory that is not written
// yet; their buffers say so (Buffer::pending). The first line that reads one
// makes compute wait. All memory of an exchange is referenced until it was
// taken back here (reap), which needs all others to have read it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/comm/engine.h"
#include "exec/decode/hosting.h"
#include "exec/decode/line_entry.h"
#include "exec/decode/recipe_table.h"
#include "exec/queue/compute_queue.h"
#include "exec/worker/line_trace.h"

namespace gt::exec {

// What makes a worker one of several. Everything outlives it.
struct Attachment {
  unsigned self;  // below `workers`
  unsigned workers;
  comm::Link& link;
  // Kernels of the communication thread: a second backend, of one thread.
  Backend& backend;
  Arena* arena = nullptr;          // that both backends take memory from
  std::vector<std::string> names;  // of the workers, for messages
  // Without any sign of another worker; then it counts as lost.
  std::chrono::milliseconds patience{60'000};
  comm::Watch* watch = nullptr;  // is told of exchanges
};

class Exchanges {
 public:
  // All outlive it; `programs` has recipes of the attachment's backend.
  Exchanges(const Attachment& attachment, ComputeQueue& compute, Pool& pool,
            Registers& registers, LineTrace& trace);
  ~Exchanges();

  comm::Engine& engine() { return engine_; }
  const comm::Engine& engine() const { return engine_; }

  // Begins the entry's exchange, and binds what it makes.
  std::shared_ptr<comm::ExchangeRun> begin(LineEntry& entry,
                                           const Where& origin);
  // "#fence FROM TO,... FILE", without its first word: what follows on the
  // workers TO waits until FROM has come so far, and knows what failed in the
  // file. Error: it says something else.
  Status fence(std::string_view words, const Where& origin);

  // Compute waits here for the exchange, unless it did before.
  void adopt(comm::ExchangeRun& run);
  // The same of those that make the entry's operands.
  void adopt_operands(const LineEntry& entry) {
    if (unadopted_ > 0) adopt_each(entry);
  }
  // Takes back what all others have read; waits while too much is lent.
  void reap();
  // Waits for something to come back. False when nothing is lent.
  bool wait_and_reap();

 private:
  // Memory that exchanges use is not used again before they end, so decoding
  // runs ahead of them only so far: with enough of them to keep both queues
  // busy it uses memory again that is warm, rather than touch more.
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
  void make_room(const LineEntry& entry, comm::ExchangeRun& run);
  Buffer* hold_target(const comm::Target& target, comm::ExchangeRun& run,
                      comm::ExchangeRun::Made& made);
  Buffer* hold(uint32_t size_class, comm::ExchangeRun& run);
  void bind_made(const LineEntry& entry, comm::ExchangeRun& run);
  void start(const std::shared_ptr<comm::ExchangeRun>& run);

  ComputeQueue& compute_;
  Pool& pool_;
  Registers& registers_;
  LineTrace& trace_;
  unsigned self_;
  unsigned workers_;
  comm::Engine engine_;
  size_t outstanding_ = 0;  // exchanges that were not taken back
  size_t held_ = 0;         // bytes of theirs
  size_t unadopted_ = 0;    // of them, those that compute has not waited for
};

}  // namespace gt::exec
