// Buffered output to a file descriptor, or to a function that takes the bytes.
//
// The buffer is written when it is full and by flush(), never by itself: not
// when the input goes idle (a filter passes a Reader an on_idle function that
// calls flush(), base/reader.h), and not by a destructor (there is none;
// finish() in cmd/program.h flushes standard output and reports its error).
//
// It keeps the first error and writes nothing after it, so callers need to ask
// ok() only once a batch. When the reader of a pipe is gone, SIGPIPE ends the
// process quietly; where that signal is ignored, the error is EPIPE, and a
// filter whose ok() is false stops reading.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace gt {

class Writer {
 public:
  // Takes all of the bytes; returns 0, or the errno of what went wrong.
  using Sink = std::function<int(std::string_view)>;

  explicit Writer(int fd);
  explicit Writer(Sink sink);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(std::string_view bytes) {
    if (bytes.size() > kCapacity - size_) return write_slow(bytes);
    append(bytes);
  }
  // Writes what is buffered, and waits until it is taken.
  void flush();

  bool ok() const { return errno_ == 0; }
  int errno_value() const { return errno_; }  // of the first error; 0: none

 private:
  static constexpr size_t kCapacity = size_t{128} << 10;

  void append(std::string_view bytes) {
    bytes.copy(buffer_.data() + size_, bytes.size());
    size_ += bytes.size();
  }
  void write_slow(std::string_view bytes);
  void write_all(std::string_view bytes);

  Sink sink_;
  std::string buffer_;
  size_t size_ = 0;
  int errno_ = 0;
};

}  // namespace gt
