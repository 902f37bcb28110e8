// The trace of a worker: a file with a row for each instruction, which says
// what ran and when (gt-work --trace; the format is in gt-log(5)).
//
// The part of a row that is the same each time a line runs is made into text
// once, by the enqueuing thread. The queue's thread only reads a clock and adds
// two times to that text. The workers of one machine may share a file. Each
// appends whole rows, writes its number before the queue's name, and counts
// time from a moment that all of them were given.
//
// The trace has a thread that writes the file, and two buffers: when the file
// is slow to write, the queue waits, so memory does not fill.
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

// The text of a row, without its times and the number of its line.
struct TraceText {
  const std::string* file = nullptr;  // the file of the line
  const char* queue = nullptr;        // the queue that the line ran on
  std::string head;                   // from the queue's name to "model.gt:"
  std::string tail;                   // from the op to the end
};

class Trace {
 public:
  // Creates the file, or empties it, and writes its header. The error is the
  // system's, with the path.
  static Result<std::unique_ptr<Trace>> open(const std::string& path);
  // Opens the trace in a file that several workers share. Somebody else has
  // created the file and written its header. `since` is when time begins, in
  // nanoseconds of the system's steady clock.
  static Result<std::unique_ptr<Trace>> join(const std::string& path,
                                             uint32_t worker, uint64_t since);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // From now on rows are written only while somebody watches: none until
  // watch(true), and none after watch(false), with which those before it reach
  // the file as soon as an instruction ends. Without this call watch() does
  // nothing. Any thread may call watch().
  void write_if_watched() {
    is_on_ = false;
    is_by_watch_ = true;
  }
  void watch(bool is_watched) {
    if (is_by_watch_) is_on_ = is_watched;
  }

  // Makes the text of the rows of a line. Any thread may call it. `text` is the
  // line without its notes; those that a row has are taken from `line`.
  static std::unique_ptr<TraceText> text_of(const Line& line,
                                            std::string_view text,
                                            const std::string* file,
                                            double bytes, double flops,
                                            const char* queue = "compute");

  // For the queue's thread: begin() when an instruction begins, end() when it
  // has ended. An instruction begins when the one before it ended, unless
  // pause() was called between the two.
  void begin() {
    if (!goes_on_) ticks_.adjust();  // stays in step with the times of add()
    start_ = goes_on_ ? end_ : ticks_.nanos();
  }
  void end(const TraceText& text, uint64_t line);
  // For the queue's thread: what runs next is no instruction, or nothing runs.
  void pause() { goes_on_ = false; }

  // Adds a row of what ran on another queue, with times of the steady clock.
  // Any thread may call it. Waits while much of what was added before is still
  // being written.
  void add(const TraceText& text, uint64_t line, uint64_t start, uint64_t end);

  // Writes all rows, once the queue has ended. Returns 0, or the errno of the
  // first failed write.
  int finish();

  // Writes the rows that are complete so far, for a process that is about to
  // end. Rows recorded later are dropped. Any thread may call it.
  void salvage();

 private:
  static constexpr size_t kBuffer = size_t{1} << 20;

  Trace(int fd, std::string_view header, std::string prefix,
        std::optional<uint64_t> since);
  void hand_over();
  void write_buffers();
  bool is_due() const { return full_size_ > 0 || added_.size() >= kBuffer / 2; }

  int fd_;
  const std::string prefix_;  // before the queue's name: "0/" for worker 0
  Ticks ticks_;
  uint64_t start_ = 0;  // of the instruction that runs, in nanoseconds
  uint64_t end_ = 0;    // of the last instruction
  // True if nothing came between the last instruction and the next.
  bool goes_on_ = false;
  std::atomic<bool> is_on_ = true;  // rows are written
  bool is_by_watch_ = false;
  std::vector<char> filling_;  // swapped with full_ under mutex_
  // Bytes of whole rows in filling_; written by the queue's thread.
  std::atomic<size_t> size_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> full_;  // guarded by mutex_, as are all members below
  size_t full_size_ = 0;    // 0: there is nothing to write
  std::string added_;       // rows of other queues
  bool is_ending_ = false;
  bool is_salvaged_ = false;
  int errno_ = 0;
  std::thread thread_;
};

}  // namespace gt::exec
