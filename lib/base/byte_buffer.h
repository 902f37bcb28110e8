// A buffer of bytes that grows by realloc. Unlike std::string it does not clear
// the bytes that it adds, and a large buffer is not copied when it grows: glibc
// moves its pages to the new address.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace gt {

class ByteBuffer {
 public:
  explicit ByteBuffer(size_t size) { resize(size); }

  char* data() { return data_.get(); }
  const char* data() const { return data_.get(); }
  size_t size() const { return size_; }

  // Keeps the old bytes, as many as fit in the new size; bytes beyond the old
  // size are uninitialised. Throws std::bad_alloc.
  void resize(size_t size) {
    void* grown = std::realloc(data_.get(), size);
    if (grown == nullptr) throw std::bad_alloc();
    (void)data_.release();
    data_.reset(static_cast<char*>(grown));
    size_ = size;
  }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  std::unique_ptr<char, Free> data_;
  size_t size_ = 0;
};

}  // namespace gt
