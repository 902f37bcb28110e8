// The load of each worker: how much work it was given, and how much of that it
// has done. Work is in nanoseconds, as costs.h estimates it. What a worker was
// given is known when a line is issued; what it has done is known only when it
// reports the seq up to which it has finished.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gt::route {

class Loads {
 public:
  explicit Loads(size_t workers) : workers_(workers) {}

  size_t size() const { return workers_.size(); }  // workers
  // The worker is lost: least() does not choose it any more.
  void lose(uint32_t worker) { workers_[worker].is_lost = has_lost_ = true; }
  bool has_lost() const { return has_lost_; }
  bool is_lost(uint32_t worker) const { return workers_[worker].is_lost; }
  // The worker is given that much more work.
  void add(uint32_t worker, uint64_t cost) { workers_[worker].issued += cost; }
  // Each of the workers is given that much more work.
  void add(const std::vector<uint32_t>& workers, uint64_t cost) {
    if (workers.size() == 1) return add(workers[0], cost);
    add_to_many(workers, cost);
  }
  // What the worker was given so far will be done when it has finished the line
  // `last`. What it was given since the last call begins at the line `first`.
  void mark(uint32_t worker, uint64_t first, uint64_t last) {
    workers_[worker].marks.push_back({first, last, issued(worker)});
  }
  // The worker has finished all lines up to `seq`.
  void done(uint32_t worker, uint64_t seq);

  // True if the worker has done all marked work up to that seq, or is lost.
  bool has_done(uint32_t worker, uint64_t seq) const {
    const Worker& w = workers_[worker];
    return w.is_lost || w.marks.empty() || w.marks.front().first > seq;
  }

  // Returns all work that it was given since the run began.
  uint64_t issued(uint32_t worker) const {
    return workers_[worker].issued + by_all_;
  }
  // Returns the part of it that is not done.
  uint64_t outstanding(uint32_t worker) const {
    return issued(worker) - workers_[worker].finished;
  }
  // Returns the work that is not done of what it had been given when issued()
  // was `issued`.
  uint64_t remaining(uint32_t worker, uint64_t issued) const {
    const uint64_t finished = workers_[worker].finished;
    return issued > finished ? issued - finished : 0;
  }
  // hold() and let_go(): the worker has that many more, or fewer, bytes of
  // values without ranks. least() compares them if two workers have equally
  // much to do.
  void hold(uint32_t worker, uint64_t bytes) { workers_[worker].held += bytes; }
  void let_go(uint32_t worker, uint64_t bytes) {
    workers_[worker].held -= bytes;
  }
  uint64_t held(uint32_t worker) const { return workers_[worker].held; }
  // Returns the worker with the least outstanding work; of several the one that
  // holds the fewest bytes. Not all workers may be lost.
  uint32_t least() const;

 private:
  struct Mark {
    uint64_t first;
    uint64_t last;
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
  uint64_t by_all_ = 0;  // work given to every worker, not in their `issued`
  bool has_lost_ = false;
};

}  // namespace gt::route
