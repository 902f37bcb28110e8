// Queue is an in-order queue with a thread of its own, which runs what one
// other thread enqueues. Compute has one. (The communication thread has its own
// list, comm/engine.h.) The two threads share a bounded ring of records of
// 64-bit words.
//
// Each of the two threads may sleep, and only the other wakes it. Neither
// spins, but a handler that waits for a device is asked repeatedly, after kPoll
// and then less and less often. The running thread sleeps when the queue is
// empty. Waking it costs tens of microseconds, so it is woken when the waiting
// work is worth that: when its estimated cost passes kWakeCost, when half of
// the ring is full, or when the enqueuing thread is about to sleep itself and
// calls kick(). The enqueuing thread sleeps when the ring is full, and in
// wait(). It is woken once the queue has run as far as it waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>

namespace gt::exec {

// A position on a queue. It is done once all records before it have run. The
// queue updates this every kHeadStep words and when it becomes empty.
struct Event {
  uint64_t ticket = 0;
};

// The assumed cost of a record that computes nothing, in nanoseconds.
constexpr uint64_t kJobCost = 500;

// The first word of every record.
struct RecordHead {
  // Words of the record, with this one; 0: skip to the start of the ring.
  uint64_t words : 16;
  uint64_t kind : 8;  // for the handler, as is `line`
  uint64_t line : 40;
};
static_assert(sizeof(RecordHead) == sizeof(uint64_t));

inline RecordHead head_of(size_t words, uint8_t kind, uint64_t line) {
  return {words & 0xffff, kind, line & ((uint64_t{1} << 40) - 1)};
}

class Queue {
 public:
  // The queue's thread calls a handler.
  class Handler {
   public:
    virtual ~Handler() = default;
    // Runs a record, which begins with a RecordHead.
    virtual void run(uint64_t* record) = 0;
    // The queue is empty and its thread is about to sleep.
    virtual void idle() = 0;
    // True if the handler waits for something that cannot wake the thread; then
    // the handler is asked again soon, until it returns false, before the
    // thread sleeps. `is_idle` is true if the enqueuing thread has called
    // kick() and enqueued nothing since.
    virtual bool awaits(bool /*is_idle*/) { return false; }
    // Called when the thread goes to sleep, and when it was woken.
    virtual void sleeps() {}
    virtual void wakes() {}
  };

  static constexpr size_t kWords = size_t{1} << 15;
  static constexpr size_t kMaxRecord = kWords / 8;
  static constexpr uint64_t kWakeCost = 50'000;  // nanoseconds

  explicit Queue(Handler& handler);
  ~Queue() { end(); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // Returns room for a record of `words` <= kMaxRecord; sleeps while the ring
  // is full.
  uint64_t* reserve(size_t words) {
    if (offset(tail_) + words > kWords || tail_ + words > limit_) {
      return reserve_slow(words);
    }
    // The other core has these cache lines; fetching one takes longer than
    // filling it.
    __builtin_prefetch(&ring_[offset(tail_ + kAhead)], 1);
    return &ring_[offset(tail_)];
  }

  // Enqueues the record that was written where reserve() said. `cost` is its
  // estimated time in nanoseconds. The event is done once the record has run.
  Event commit(size_t words, uint64_t cost) {
    tail_ += words;
    cost_ += cost;
    if (tail_ - published_words_ >= kPublishWords || cost_ >= kPublishCost) {
      publish();
    }
    return {tail_};
  }

  // Makes sure that everything enqueued runs soon, however little it is.
  void kick();
  bool done(Event event) const {
    return head_.load(std::memory_order_acquire) >= event.ticket;
  }
  void wait(Event event);  // calls kick(), then sleeps until the event is done
  void drain() { wait({tail_}); }
  // Runs everything enqueued, then ends the thread. Nothing may be enqueued
  // afterwards.
  void end();

 private:
  static constexpr size_t kAhead = 64;  // words
  static constexpr size_t kPublishWords = 256;
  static constexpr uint64_t kPublishCost = 2'000;
  static constexpr std::chrono::microseconds kPoll{50};
  static constexpr std::chrono::microseconds kLongestPoll{500};
  static constexpr size_t kHeadStep = 1024;  // words run between head updates

  static size_t offset(uint64_t position) { return position & (kWords - 1); }
  uint64_t* reserve_slow(size_t words);
  void publish();
  void wake();
  void loop();
  uint64_t run_some(uint64_t head, uint64_t tail);
  void advance(uint64_t head);
  bool sleep(uint64_t head);

  Handler& handler_;
  std::unique_ptr<uint64_t[]> ring_;

  // ---- the enqueuing thread's
  alignas(64) uint64_t tail_ = 0;
  // The tail may grow up to here without a look at head_.
  uint64_t limit_ = kWords;
  uint64_t published_words_ = 0;
  uint64_t woken_words_ = 0;
  uint64_t cost_ = 0;          // since the last publish()
  uint64_t unwoken_cost_ = 0;  // since the last wake()

  // ---- both threads'
  alignas(64) std::atomic<uint64_t> published_{0};
  alignas(64) std::atomic<uint64_t> head_{0};
  std::atomic<uint64_t> kicked_{0};  // the tail of the last kick()
  // The head that the enqueuing thread sleeps for; 0: none.
  std::atomic<uint64_t> wanted_{0};
  alignas(64) std::atomic<int> asleep_{0};
  std::atomic<int> arrived_{0};  // changes when the wanted head is reached
  std::atomic<bool> ending_{false};

  std::thread thread_;
};

}  // namespace gt::exec
