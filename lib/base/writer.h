// Buffered bytes to a file descriptor, or to whoever takes them. Keeps the
// first error; after it, all writing is a no-op, so callers check once per
// batch.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace gt {

class Writer {
 public:
  // Takes bytes whole; 0, or the errno of what went wrong.
  using Sink = std::function<int(std::string_view)>;

  explicit Writer(int fd);
  explicit Writer(Sink sink);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(std::string_view bytes) {
    if (bytes.size() > kCapacity - size_) return write_slow(bytes);
    append(bytes);
  }
  void flush();

  bool ok() const { return errno_ == 0; }
  int errno_value() const { return errno_; }

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
