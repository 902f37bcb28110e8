// The decoding thread's part of exchanges (comm/exchange.h): it takes memory
// for them, binds their results, and enqueues their start.
//
// The results of an exchange are bound at once, to memory that is not written
// yet; their buffers are marked (Buffer::pending). The first line that reads
// such a result adopts the exchange, that is, it makes compute wait for it. All
// memory of an exchange stays referenced until reap() takes it back, once all
// other workers have read it.
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
#include "net/control_lines.h"

namespace gt::exec {

// What a worker needs in order to be one of several. Everything referred to
// must outlive the worker.
struct Attachment {
  unsigned self;  // this worker's number, below `workers`
  unsigned workers;
  comm::Communicator& communicator;
  // The backend of the communication thread: a second one, with one thread.
  Backend& backend;
  comm::Watch* watch = nullptr;  // is told of exchanges that ran; may be null
};

class Exchanges {
 public:
  // All arguments must outlive the object.
  Exchanges(const Attachment& attachment, ComputeQueue& compute, Pool& pool,
            Registers& registers, LineTrace& trace);

  // Waits until all workers are connected. Error: names the worker that did not
  // answer.
  Status connect() { return engine_.connect(); }

  // Begins the entry's exchange and binds its results. `origin` is the place of
  // the line.
  std::shared_ptr<comm::ExchangeRun> begin(LineEntry& entry,
                                           const Where& origin);
  // Takes a fence. gt-route sends it to the workers that it names, between
  // lines that use one file on several workers, such as a save and a load. On
  // the workers `to`, compute waits at the fence until worker `from` has run
  // all lines before it and has written what it saves. Then they also know
  // which saves of `from` to the file failed (storage/saves.h). Error: it names
  // a worker that does not exist.
  Status fence(const net::FenceLine& fence, const Where& origin);

  // Tells the communicator, in order with the exchanges, which sets of workers
  // will compute sums, so that it can prepare for them.
  void group(std::vector<comm::Workers> sets, const Where& origin);

  // Makes compute wait for the exchange, unless it does so already.
  void adopt(comm::ExchangeRun& run);
  // Does the same for the exchanges that make the entry's operands.
  void adopt_operands(const LineEntry& entry) {
    if (unadopted_ > 0) adopt_each(entry);
  }
  // Takes back the memory of exchanges that all others have read. Waits while
  // too many exchanges are under way, or they hold too much memory.
  void reap();
  // Waits until some memory comes back. False if none did, as when no exchange
  // is under way.
  bool wait_and_reap();

 private:
  // The memory of an exchange cannot be reused before the exchange ends, so
  // decoding may run ahead of exchanges only so far. With kEnough of them under
  // way both threads are busy; beyond that, reusing memory that is in the cache
  // is better than touching more than kWarm bytes.
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
  comm::Communicator& communicator_;
  comm::Engine engine_;
  size_t outstanding_ = 0;  // exchanges whose memory was not taken back yet
  size_t held_ = 0;         // bytes that they hold
  size_t unadopted_ = 0;    // those that no one has adopted yet
};

}  // namespace gt::exec
