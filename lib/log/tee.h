// gt-log -o: a stream passes byte for byte while a log of it is written.
//
// One thread reads and passes on, so that the stream waits for nothing else; a
// second writes the log, of what was read at once with one time. Between them
// are a few chunks: a log that is slow to write holds the stream up rather than
// fill memory.
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/exit.h"
#include "log/input.h"
#include "stream/log_rows.h"
#include "stream/marks.h"

namespace gt::log {

class Tee {
 public:
  // Both descriptors stay the caller's. `log_name` is for messages; a `log` of
  // -1 is none.
  Tee(int out, int log, std::string log_name, Say say);
  ~Tee();
  Tee(const Tee&) = delete;
  Tee& operator=(const Tee&) = delete;

  // Passes these files on in order, "-" and none at all being standard input,
  // and returns the worst status, of this program and of the streams. End marks
  // pass too, with this program's own status if it is worse. To be called once.
  // A log that cannot be written is told once, and the stream goes on without
  // it.
  Exit run(const std::vector<std::string>& paths);

 private:
  static constexpr size_t kChunk = size_t{256} << 10;
  static constexpr size_t kChunks = 4;
  static constexpr size_t kMaxLine = size_t{64} << 20;

  struct Chunk {
    std::vector<char> bytes;
    size_t size = 0;
    LogTime time;
  };

  // The reading thread, which is run()'s caller, calls these.
  void read(int fd, const std::string& name);
  void fail(const std::string& name, int error);
  Exit finish();
  Chunk& empty_chunk();
  void hand_over();
  void wait_for_log();
  void pass(std::string_view bytes);
  void pass_held();
  void write_out(std::string_view bytes);
  void end_input(const std::string& name, bool has_failed);

  // The logging thread calls these.
  void log_chunks();
  void log_chunk(const Chunk& chunk);
  void log_line(const LogTime& time, std::string_view line, size_t bytes);
  void write_log();

  int out_;
  std::string log_name_;
  Say say_;
  bool stopped_ = false;
  Exit status_ = Exit::kDone;       // of what this program did
  Exit read_status_ = Exit::kDone;  // of the end marks
  // The beginning of a line whose end is still to come; or an end mark, which
  // is passed on only when it is known whether the log was written.
  std::string held_;
  bool at_line_start_ = true;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Chunk, kChunks> chunks_;  // a ring; filled_ of them from first_
  size_t first_ = 0;
  size_t filled_ = 0;
  bool is_ending_ = false;

  // For the logging thread; for the other one while no chunk is filled.
  Marks marks_;
  uint64_t line_ = 0;
  std::string part_;       // of a line whose end is still to come
  size_t part_bytes_ = 0;  // as read: part_ holds no more than a line may have
  LogRows rows_;
  bool is_log_lost_ = false;  // it cannot be written, and that was told

  std::thread thread_;
};

}  // namespace gt::log
