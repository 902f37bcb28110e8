// Lines from a file descriptor, with back-pressure by nature: it reads only
// when asked. Owns the descriptor's buffer, not the descriptor.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/byte_buffer.h"

namespace gt {

// What some editors begin UTF-8 with; not a part of the text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

class Reader {
 public:
  // A longer line is dropped and reported, so no input can take all memory.
  static constexpr size_t kMaxLine = size_t{64} << 20;

  enum class Item { kLine, kPart, kTooLong, kEnd, kError };

  // `on_idle` runs before a read that would block: time to flush.
  Reader(int fd, std::function<void()> on_idle);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // The next line without LF or CR LF. The text stays valid until the next
  // call. kPart: the last line, which has no LF; whether it is whole depends on
  // who wrote it. kTooLong: a line over kMaxLine was skipped, `line` holds its
  // beginning. kError: errno_value() says why; what came of a line before it is
  // dropped. A byte order mark before the first line is skipped.
  Item next(std::string_view& line);

  // What is buffered and not yet given out; consume() gives it out whole.
  std::string_view buffered() const {
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void consume(size_t bytes) { begin_ += bytes; }
  // Reads more without blocking; false when nothing is to be had right now.
  bool fill_if_ready();

  int errno_value() const { return errno_; }
  // Whether it ended before its first byte, as is_empty_pipe() (io.h) says.
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
  std::string head_;  // beginning of a line that was too long
  size_t begin_ = 0;
  size_t end_ = 0;
  bool is_first_ = true;  // no line was given out
  bool has_bytes_ = false;
  bool is_empty_pipe_ = false;
  bool at_end_ = false;  // or after an error: errno_ says which
  int errno_ = 0;
};

}  // namespace gt
