// How much work each worker has been given, and how much of that it has done.
// Work is in nanoseconds, as estimated from the op table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gt::route {

class Loads {
 public:
  explicit Loads(size_t workers) : workers_(workers) {}

  size_t size() const { return workers_.size(); }
  // The worker is given no more work.
  void lose(uint32_t worker) { workers_[worker].is_lost = true; }
  bool is_lost(uint32_t worker) const { return workers_[worker].is_lost; }
  void add(uint32_t worker, uint64_t cost) { workers_[worker].issued += cost; }
  // To each of them.
  void add(const std::vector<uint32_t>& workers, uint64_t cost) {
    if (workers.size() == 1) return add(workers[0], cost);
    add_to_many(workers, cost);
  }
  // All that was added until now is done once the worker has finished `seq`.
  void mark(uint32_t worker, uint64_t seq) {
    workers_[worker].marks.push_back({seq, issued(worker)});
  }
  void done(uint32_t worker, uint64_t seq);

  uint64_t issued(uint32_t worker) const {
    return workers_[worker].issued + by_all_;
  }
  uint64_t outstanding(uint32_t worker) const {
    return issued(worker) - workers_[worker].finished;
  }
  // Of what had been issued by then.
  uint64_t remaining(uint32_t worker, uint64_t issued) const {
    const uint64_t finished = workers_[worker].finished;
    return issued > finished ? issued - finished : 0;
  }
  // Values that a worker holds, for ties.
  void hold(uint32_t worker, uint64_t bytes) { workers_[worker].held += bytes; }
  void let_go(uint32_t worker, uint64_t bytes) {
    workers_[worker].held -= bytes;
  }
  uint64_t held(uint32_t worker) const { return workers_[worker].held; }
  // The worker with the least to do; of several the one that holds least. Not
  // all are lost.
  uint32_t least() const;

 private:
  struct Mark {
    uint64_t seq;
    uint64_t issued;
  };
  struct Worker {
    uint64_t issued = 0;
    uint64_t finished = 0;
    uint64_t held = 0;
    std::deque<Mark> marks;
    bool is_lost = false;
  };
  void add_to_many(const std::vector<uint32_t>& workers, uint64_t cost);

  std::vector<Worker> workers_;
  uint64_t by_all_ = 0;  // issued, to each
};

}  // namespace gt::route
