// What leaves for the workers: messages that wait for a worker's credit, and
// those on their way, of which it is known what each worker has not finished,
// so that a loss can be placed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "net/host.h"
#include "net/wire.h"
#include "route/outbox.h"
#include "route/run_recorder.h"

namespace gt::route {

class Deliveries {
 public:
  explicit Deliveries(size_t workers) : workers_(workers) {}

  // Lines of the file for the workers of the batch.
  void add(Outbox::Batch batch, std::string file);
  // Workers that keep the block need keep it no longer.
  void add_forget(uint64_t block);
  // Sends what the worker has room for.
  void send(uint32_t worker, net::Host& host, RunRecorder& log);
  // Tells a worker, for whom nothing waits any longer, that no more lines come.
  void send_end(uint32_t worker, net::Host& host);
  // All workers are lost: what waits is for nobody.
  void drop_unsent();
  // That worker is lost: what waits or comes for it is for nobody.
  void drop(uint32_t worker);

  // The worker has finished all up to `seq`. Error: it cannot have.
  Status take_done(uint32_t worker, uint64_t seq);
  bool has_done_all(uint32_t worker, uint64_t done) const {
    return done == workers_[worker].last_seq;
  }
  bool told_end(uint32_t worker) const { return workers_[worker].told_end; }
  // Bytes of text that wait for the worker's credit.
  size_t unsent_bytes(uint32_t worker) const {
    return workers_[worker].unsent_bytes;
  }
  bool has_unsent(uint32_t worker) const {
    return !workers_[worker].unsent.empty();
  }
  // "; it was at p.gt:8: y = matmul x w", of a worker that has done all up to
  // `done`: the first line that it had not.
  std::string where_was(uint32_t worker, uint64_t done) const;

 private:
  struct Sent {
    Outbox::Batch batch;
    std::string file;
  };
  struct OnWay {
    std::shared_ptr<const Sent> sent;
    size_t part = 0;  // of its batch
    const BodyPart& body() const { return sent->batch.parts[part]; }
  };
  struct Unsent {
    net::Frame frame;
    net::Verb verb = net::Verb::kLines;
    uint64_t first = 0;  // seq
    uint64_t last = 0;
    size_t cost = 0;  // bytes of the text that it stands for
  };
  struct Worker {
    std::deque<Unsent> unsent;
    size_t unsent_bytes = 0;
    std::deque<OnWay> on_way;
    size_t unsent_parts = 0;  // the last of these, which wait in `unsent`
    size_t on_way_bytes = 0;  // costs of what was sent
    uint64_t last_seq = 0;    // of what was put on its way
    bool told_end = false;
    bool is_dropped = false;
  };

  void add_part(const BodyPart& part, const std::vector<uint32_t>& workers);

  std::vector<Worker> workers_;
  // By id of a block: which workers keep it.
  std::unordered_map<uint64_t, std::vector<bool>> keepers_;
};

}  // namespace gt::route
