// Deliveries: the messages to the workers: those that wait until their worker
// has room, and those that the worker was sent and has not finished. The text
// of the latter is kept, so that it can be said at which line a worker was
// lost.
//
// A worker has room while it has credit (net::Host::can_send()) and not more
// than 4 MiB of text to finish; for blocks the text that they stand for counts.
// A block goes as the message `block` to a worker that does not keep it, and as
// `hot` to one that does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "net/host.h"
#include "net/wire.h"
#include "route/client.h"
#include "route/outbox.h"
#include "route/run_recorder.h"

namespace gt::route {

class Deliveries {
 public:
  explicit Deliveries(size_t workers) : workers_(workers) {}

  // Makes the messages of a batch; they wait for its workers.
  void add(Outbox::Batch batch);
  // Adds, for the workers that keep that block, the message that they need not
  // keep it any longer. It waits behind the messages that use the block.
  void add_forget(uint64_t block);
  // Sends the worker's messages, in order, as far as it has room.
  void send(uint32_t worker, net::Host& host, RunRecorder& log);
  // Tells the worker, once, that no more lines come. Does nothing while
  // messages wait for it.
  void send_end(uint32_t worker, net::Host& host);
  // The run ends by a loss: forgets the waiting messages of all workers.
  void drop_unsent();
  // That worker is lost and the run goes on: forgets all its messages, and
  // makes no more for it.
  void drop(uint32_t worker);

  // The worker says that it has finished all lines up to `seq`. Error: it was
  // not sent that many.
  Status take_done(uint32_t worker, uint64_t seq);
  // True if a worker that has finished all up to `done` has finished everything
  // that was ever added for it.
  bool has_done_all(uint32_t worker, uint64_t done) const {
    return done == workers_[worker].last_seq;
  }
  bool told_end(uint32_t worker) const { return workers_[worker].told_end; }
  // Returns the bytes of text that wait until the worker has room.
  size_t unsent_bytes(uint32_t worker) const {
    return workers_[worker].unsent_bytes;
  }
  // Returns the bytes of text that the worker was sent and has not finished.
  size_t on_way_bytes(uint32_t worker) const {
    return workers_[worker].on_way_bytes;
  }
  // Returns how many instructions of the one total order lie between the last
  // one that the worker has finished and the last one that is for it.
  uint64_t behind(uint32_t worker, uint64_t done) const {
    const uint64_t last = workers_[worker].last_seq;
    return last > done ? last - done : 0;
  }

  // A line that a worker was sent.
  struct LineAt {
    std::string place;  // "p.gt:8"
    std::string text;   // its first kMostText bytes
    bool is_done = false;
  };
  static constexpr size_t kMostText = 160;
  // Returns the first line with a seq above `done` that the worker was sent; or
  // else the last line that it was sent, if that is still known. Of what the
  // worker has finished only the last part is known.
  std::optional<LineAt> line_at(uint32_t worker, uint64_t done,
                                const Client& client) const;
  // Returns the end of a message about a worker's loss: the line that it has
  // not finished, as "; it was at p.gt:8: y = matmul x w"; or "; it had done
  // all it was sent".
  std::string where_was(uint32_t worker, uint64_t done,
                        const Client& client) const;

 private:
  // A part of a batch that a worker has not finished.
  struct OnWay {
    // Shared by the workers of the batch.
    std::shared_ptr<const Outbox::Batch> batch;
    // The index of the part in the batch.
    size_t part = 0;
    bool is_short = false;  // the batch may be kept when it is finished
    const BodyPart& body() const { return batch->parts[part]; }
  };
  // A frame that waits. A long message has several.
  struct Unsent {
    net::Frame frame;
    net::Verb verb = net::Verb::kLines;
    uint64_t first = 0;  // seq of its message's first line
    uint64_t last = 0;   // and of the message's last line
    // Bytes of the text that the message stands for; 0 if the frame is not the
    // message's first.
    size_t cost = 0;
  };
  struct Worker {
    std::deque<Unsent> unsent;
    size_t unsent_bytes = 0;  // the sum of the costs in `unsent`
    // The parts that the worker has not finished. The last `unsent_parts` of
    // them are still in `unsent`.
    std::deque<OnWay> on_way;
    size_t unsent_parts = 0;
    // The last part that it has finished, if is_short.
    std::optional<OnWay> finished;
    size_t on_way_bytes = 0;  // the costs of parts that were sent
    uint64_t last_seq = 0;    // the last seq that was added
    bool told_end = false;    // it was told that no more lines come
    bool is_dropped = false;
  };

  void add_part(const BodyPart& part, const std::vector<uint32_t>& workers);

  std::vector<Worker> workers_;
  // By the id of a block: the workers that keep it, or will.
  std::unordered_map<uint64_t, std::vector<bool>> keepers_;
};

}  // namespace gt::route
