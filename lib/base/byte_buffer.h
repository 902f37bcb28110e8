// Bytes that grow: what comes new is not cleared, and what is large moves by
// its pages (realloc of glibc) and is not copied.
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

  // Keeps the bytes up to the smaller size. Throws std::bad_alloc.
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
