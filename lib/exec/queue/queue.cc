#include "exec/queue/queue.h"

#include <algorithm>

#include "base/result.h"

namespace gt::exec {

Queue::Queue(Handler& handler)
    : handler_(handler),
      ring_(std::make_unique_for_overwrite<uint64_t[]>(kWords)),
      thread_([this] { loop(); }) {}

void Queue::end() {
  if (!thread_.joinable()) return;
  drain();
  ending_.store(true, std::memory_order_seq_cst);
  wake();
  thread_.join();
}

uint64_t* Queue::reserve_slow(size_t words) {
  GT_CHECK(words <= kMaxRecord);
  const size_t to_end = kWords - offset(tail_);
  const size_t skipped = to_end < words ? to_end : 0;
  if (tail_ + skipped + words > limit_) {
    limit_ = head_.load(std::memory_order_acquire) + kWords;
  }
  if (tail_ + skipped + words > limit_) {
    // Waits until half of the ring is free, so that one sleep makes room for
    // many records.
    wait({tail_ - kWords / 2});
    limit_ = head_.load(std::memory_order_acquire) + kWords;
  }
  if (skipped > 0) {
    const RecordHead skip{0, 0, 0};
    *reinterpret_cast<RecordHead*>(&ring_[offset(tail_)]) = skip;
    tail_ += skipped;
  }
  return &ring_[offset(tail_)];
}

void Queue::publish() {
  published_.store(tail_, std::memory_order_release);
  unwoken_cost_ += cost_;
  cost_ = 0;
  published_words_ = tail_;
  if (unwoken_cost_ >= kWakeCost || tail_ - woken_words_ >= kWords / 2) {
    wake();
  }
}

// Either the sleeper sees what was published, or this sees that it sleeps: both
// store before they load, in one total order. The same holds for wait() and
// advance().
void Queue::wake() {
  unwoken_cost_ = 0;
  woken_words_ = tail_;
  published_.store(tail_, std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) == 0) return;
  asleep_.store(0, std::memory_order_release);
  asleep_.notify_one();
}

void Queue::kick() {
  kicked_.store(tail_, std::memory_order_relaxed);
  if (published_words_ == tail_ && woken_words_ == tail_) return;
  publish();
  wake();
}

void Queue::wait(Event event) {
  kick();
  while (!done(event)) {
    const int before = arrived_.load(std::memory_order_acquire);
    wanted_.store(event.ticket, std::memory_order_seq_cst);
    if (head_.load(std::memory_order_seq_cst) >= event.ticket) break;
    arrived_.wait(before, std::memory_order_acquire);
  }
  wanted_.store(0, std::memory_order_relaxed);
}

// ---- the queue's thread -----------------------------------------------------

void Queue::advance(uint64_t head) {
  head_.store(head, std::memory_order_seq_cst);
  const uint64_t wanted = wanted_.load(std::memory_order_seq_cst);
  if (wanted == 0 || head < wanted) return;
  arrived_.fetch_add(1, std::memory_order_release);
  arrived_.notify_one();
}

uint64_t Queue::run_some(uint64_t head, uint64_t tail) {
  const uint64_t stop = std::min(tail, head + kHeadStep);
  while (head < stop) {
    uint64_t* record = &ring_[offset(head)];
    const size_t words = reinterpret_cast<RecordHead*>(record)->words;
    if (words == 0) {
      head += kWords - offset(head);
      continue;
    }
    handler_.run(record);
    head += words;
  }
  return head;
}

// Sleeps until there is more to run. False when the queue ends.
bool Queue::sleep(uint64_t head) {
  handler_.idle();
  // Each pause is an eighth longer than the last, so that the thread notices an
  // event late by at most an eighth of the time it waited.
  std::chrono::microseconds poll = kPoll;
  while (published_.load(std::memory_order_acquire) == head &&
         handler_.awaits(kicked_.load(std::memory_order_relaxed) == head)) {
    std::this_thread::sleep_for(poll);
    poll = std::min(poll + poll / 8, kLongestPoll);
  }
  asleep_.store(1, std::memory_order_seq_cst);
  if (published_.load(std::memory_order_seq_cst) == head) {
    if (ending_.load(std::memory_order_seq_cst)) return false;
    handler_.sleeps();
    asleep_.wait(1, std::memory_order_acquire);
    handler_.wakes();
  }
  asleep_.store(0, std::memory_order_relaxed);
  return true;
}

void Queue::loop() {
  uint64_t head = 0;
  do {
    for (;;) {
      const uint64_t tail = published_.load(std::memory_order_acquire);
      if (head == tail) break;
      head = run_some(head, tail);
      advance(head);
    }
  } while (sleep(head));
}

}  // namespace gt::exec
