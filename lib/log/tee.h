// Tee, for gt-log -o: passes a stream on byte for byte while it writes a log of
// it.
//
// One thread reads and passes on, so that the stream waits for nothing else. A
// second one writes the log, in which everything that was read at once has the
// same time. Between them are a few chunks: a log that is slow to write slows
// the stream down, and does not fill memory.
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
  // Both descriptors stay the caller's. `log_name` is for messages. If `log` is
  // -1, no log is written.
  Tee(int out, int log, std::string log_name, Say say);
  ~Tee();
  // Says that the log is lost from the beginning, which the caller has
  // reported: the stream passes, and its status says so. To be called before
  // run().
  void lose_log() { is_log_lost_ = true; }
  Tee(const Tee&) = delete;
  Tee& operator=(const Tee&) = delete;

  // Passes these files on in order, where "-" or no path is standard input, and
  // returns the worst status of this program and of the streams. End marks pass
  // as well, with this program's own status if it is worse. To be called once.
  // If a file ends without LF, one is written before what comes next. If the
  // log cannot be written, that is reported once, and the stream goes on
  // without it.
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

  // The following functions are called by the reading thread, which is run()'s
  // caller.
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

  // The following functions are called by the logging thread.
  void log_chunks();
  void log_chunk(const Chunk& chunk);
  void log_line(const LogTime& time, std::string_view line, size_t bytes);
  void write_log();

  int out_;
  std::string log_name_;
  Say say_;
  bool stopped_ = false;
  Exit status_ = Exit::kDone;       // the status of this program
  Exit read_status_ = Exit::kDone;  // the status of the end marks
  // The beginning of a line whose end is still to come; or an end mark, which
  // is passed on only when it is known whether the log was written.
  std::string held_;
  bool at_line_start_ = true;
  bool lacks_lf_ = false;  // a file before this one ended without LF

  std::mutex mutex_;
  std::condition_variable changed_;
  // A ring of which `filled_` chunks, from first_ on, are filled.
  std::array<Chunk, kChunks> chunks_;
  size_t first_ = 0;
  size_t filled_ = 0;
  bool is_ending_ = false;

  // The following members are used by the logging thread, and by the other one
  // while no chunk is filled.
  Marks marks_;
  uint64_t line_ = 0;
  std::string part_;  // a line whose end is still to come
  // Bytes as they were read: part_ holds no more than a line may have.
  size_t part_bytes_ = 0;
  LogRows rows_;
  bool is_log_lost_ = false;  // the log cannot be written, which was reported

  std::thread thread_;
};

}  // namespace gt::log
