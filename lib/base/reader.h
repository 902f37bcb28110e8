// Reads lines from a file descriptor. It reads only when it is asked for a
// line, so that a writer at the other end of a pipe is held back. It owns its
// buffer; the descriptor stays the caller's.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/byte_buffer.h"

namespace gt {

// The mark that some editors put before UTF-8 text. It is no part of the text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

class Reader {
 public:
  // The longest line, in bytes without LF. A longer line is skipped, so that no
  // input can take all memory; next() returns kTooLong for it, and the program
  // that reads says so to the user and rejects the line (status 3).
  static constexpr size_t kMaxLine = size_t{64} << 20;

  enum class Item { kLine, kPart, kTooLong, kEnd, kError };

  // `on_idle` (which may be empty) is called before each read that would wait.
  // A filter flushes its output there, so that a pipeline is interactive.
  Reader(int fd, std::function<void()> on_idle);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Waits for the next line and sets `line` to it, without its LF and the CRs
  // before that. The text is valid until the next call on the reader. A byte
  // order mark before the first line is skipped. Returns kLine, or one of
  // these:
  //   kPart     the input's last line, which has no LF: it is cut short if a
  //             program wrote it (Marks::drops_part() in stream/marks.h), and
  //             whole if a person did
  //   kTooLong  a line of over kMaxLine bytes was skipped; `line` holds its
  //             first 80
  //   kEnd      the end of the input
  //   kError    reading failed, errno_value() says why; a line that was read in
  //             part is dropped
  Item next(std::string_view& line);

  // Returns the bytes that are buffered and that next() has not returned yet. A
  // caller that uses some of them itself, as Replay does with whole rounds of a
  // loop, removes them with consume().
  std::string_view buffered() const {
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void consume(size_t bytes) { begin_ += bytes; }
  // Reads more into the buffer if that needs no waiting; false if nothing came.
  bool fill_if_ready();
  // Waits for more and reads it into the buffer; false at the end of the input.
  // The text that next() returned last is then no longer valid.
  bool wait_for_more() { return fill() == Fill::kMore; }

  int errno_value() const { return errno_; }
  // True if the input is a pipe and ended before its first byte; see
  // is_empty_pipe() in io.h.
  bool is_empty_pipe() const { return is_empty_pipe_; }

 private:
  enum class Fill { kMore, kEnd, kError };
  Fill fill();
  Fill end();
  Item next_line(std::string_view& line);
  void make_room();
  Item too_long(std::string_view& line);

  int fd_;
  std::function<void()> on_idle_;
  ByteBuffer buffer_;
  std::string head_;  // the beginning of a line that was too long
  size_t begin_ = 0;
  size_t end_ = 0;
  bool is_first_ = true;  // next() has returned no line yet
  bool has_bytes_ = false;
  bool is_empty_pipe_ = false;
  bool at_end_ = false;  // at the end, or after an error: then errno_ is not 0
  int errno_ = 0;
};

}  // namespace gt
