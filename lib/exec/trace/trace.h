// The trace of a worker: what ran and when, a row for each instruction, in a
// file (gt-work --trace, gt-log(5)).
//
// What is the same each time that a line runs is made into text once, by the
// enqueuing thread; the queue's thread reads a clock and adds two times to it.
// The workers of one machine may share a file. Each appends whole rows, puts
// its number before the queue's name, and counts time from a moment that all
// were told.
//
// A thread of the trace's own writes the file. There are two buffers, so a file
// that is slow to write holds the queue up rather than fill memory.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "exec/trace/ticks.h"
#include "stream/line.h"

namespace gt::exec {

// A row but for its times and its line's number.
struct TraceText {
  const std::string* file = nullptr;  // that it was made for
  const char* queue = nullptr;        // and the queue
  std::string head;                   // from the queue to "model.gt:"
  std::string tail;                   // from the op to the end
};

class Trace {
 public:
  // The file is made anew; the error is why it cannot be.
  static Result<std::unique_ptr<Trace>> open(const std::string& path);
  // The trace in a file that several workers share, which somebody has made,
  // with its header. `since` is when time begins, by the system's steady clock
  // in nanoseconds.
  static Result<std::unique_ptr<Trace>> join(const std::string& path,
                                             uint32_t worker, uint64_t since);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // The text of the rows of a line; any thread. `text` is the line without its
  // notes, which `line` has.
  static std::unique_ptr<TraceText> text_of(const Line& line,
                                            std::string_view text,
                                            const std::string* file,
                                            double bytes, double flops,
                                            const char* queue = "compute");

  // On the queue's thread: an instruction begins, at the end of the one before
  // unless something else came between (pause()); it has ended.
  void begin() {
    if (!goes_on_) ticks_.adjust();  // towards the clock of add()
    start_ = goes_on_ ? end_ : ticks_.nanos();
  }
  void end(const TraceText& text, uint64_t line);
  // On the queue's thread: what comes next is no instruction, or nothing.
  void pause() { goes_on_ = false; }

  // On any thread: what ran on another queue, in times of the steady clock.
  // Waits while much of what was added before is being written.
  void add(const TraceText& text, uint64_t line, uint64_t start, uint64_t end);

  // Writes all, once the queue has ended. 0, or the errno of what went wrong.
  int finish();

  // Writes the rows that are whole so far, for a process that is about to end:
  // what is recorded later is dropped. Any thread.
  void salvage();

 private:
  static constexpr size_t kBuffer = size_t{1} << 20;

  Trace(int fd, std::string_view header, std::string prefix,
        std::optional<uint64_t> since);
  void hand_over();
  void write_buffers();
  bool is_due() const { return full_size_ > 0 || added_.size() >= kBuffer / 2; }

  int fd_;
  const std::string prefix_;  // of the queue: "0/" of worker 0
  Ticks ticks_;
  uint64_t start_ = 0;  // nanoseconds
  uint64_t end_ = 0;    // of the last instruction
  bool goes_on_ = false;
  std::vector<char> filling_;     // swapped with full_ under mutex_
  std::atomic<size_t> size_ = 0;  // of whole rows; the queue's thread sets it

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> full_;  // guarded by mutex_, as is the rest
  size_t full_size_ = 0;    // 0: there is nothing to write
  std::string added_;       // rows of other queues
  bool is_ending_ = false;
  bool is_salvaged_ = false;
  int errno_ = 0;
  std::thread thread_;
};

}  // namespace gt::exec
