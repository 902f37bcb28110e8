// The messages to the workers: those that wait until their worker has room, and
// those on their way, which the worker has not finished. Of the latter the text
// is kept, so that it can be said at which line a worker was lost.
//
// A worker has room while it has credit (net::Host::can_send()) and has not
// more than 4 MiB of text to finish; of blocks the text that they stand for
// counts. A block goes to a worker that does not keep it as the message
// `block`, to one that does as `hot`.
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
  // Adds, for workers that keep that block, the message that they need keep it
  // no longer. It waits behind the messages that use the block.
  void add_forget(uint64_t block);
  // Sends the worker's messages, in order, as far as it has room.
  void send(uint32_t worker, net::Host& host, RunRecorder& log);
  // Tells the worker, once, that no more lines come; not while messages wait
  // for it.
  void send_end(uint32_t worker, net::Host& host);
  // The run ends by a loss: forgets the messages that wait, of all workers.
  void drop_unsent();
  // That worker is lost and the run goes on: forgets all of its messages, and
  // makes no more for it.
  void drop(uint32_t worker);

  // The worker says that it has finished all up to `seq`. Error: it was not
  // sent so much.
  Status take_done(uint32_t worker, uint64_t seq);
  // Whether a worker that has finished all up to `done` has finished all that
  // was ever added for it.
  bool has_done_all(uint32_t worker, uint64_t done) const {
    return done == workers_[worker].last_seq;
  }
  bool told_end(uint32_t worker) const { return workers_[worker].told_end; }
  // Bytes of text that wait until the worker has room.
  size_t unsent_bytes(uint32_t worker) const {
    return workers_[worker].unsent_bytes;
  }
  bool has_unsent(uint32_t worker) const {
    return !workers_[worker].unsent.empty();
  }
  // Bytes of text that the worker was sent and has not finished.
  size_t on_way_bytes(uint32_t worker) const {
    return workers_[worker].on_way_bytes;
  }
  // How many instructions of the one order of all lie between what the worker
  // has finished and the last that is for it.
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
  // The first line with a seq above `done` that the worker was sent; or else
  // the last that it was sent, if that is known as yet. Of what it has finished
  // it knows the last part alone.
  std::optional<LineAt> line_at(uint32_t worker, uint64_t done,
                                const Client& client) const;
  // For a message about a worker's loss: the line that it has not finished, as
  // "; it was at p.gt:8: y = matmul x w"; or "; it had done all it was sent".
  std::string where_was(uint32_t worker, uint64_t done,
                        const Client& client) const;

 private:
  // One part of a batch, which a worker has not finished.
  struct OnWay {
    std::shared_ptr<const Outbox::Batch> batch;  // which its workers share
    size_t part = 0;                             // of its parts
    bool is_short = false;  // the batch may be kept when it is finished
    const BodyPart& body() const { return batch->parts[part]; }
  };
  // A frame that waits; a long message has several.
  struct Unsent {
    net::Frame frame;
    net::Verb verb = net::Verb::kLines;
    uint64_t first = 0;  // seq of its message's first line
    uint64_t last = 0;   // and of the last
    // Bytes of the text that its message stands for; 0 if it is not the
    // message's first frame.
    size_t cost = 0;
  };
  struct Worker {
    std::deque<Unsent> unsent;
    size_t unsent_bytes = 0;  // their costs
    // Parts that the worker has not finished. The last `unsent_parts` of them
    // are in `unsent` as yet.
    std::deque<OnWay> on_way;
    size_t unsent_parts = 0;
    std::optional<OnWay> finished;  // the last that it has, if that is short
    size_t on_way_bytes = 0;        // costs of those that were sent
    uint64_t last_seq = 0;          // of all that was added
    bool told_end = false;          // that no more lines come
    bool is_dropped = false;
  };

  void add_part(const BodyPart& part, const std::vector<uint32_t>& workers);

  std::vector<Worker> workers_;
  // By id of a block: which workers keep it, or will.
  std::unordered_map<uint64_t, std::vector<bool>> keepers_;
};

}  // namespace gt::route
