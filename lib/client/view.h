// View: a file of a store mapped into this process's memory. Copying to and
// from such a mapping is a third faster than write(2) and read(2) for files
// that are overwritten again and again.
#pragma once

#include <cstddef>

namespace gt::client {

class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { let_go(); }

  // Returns the address of the first `size` bytes of the open file. The mapping
  // is kept until the size changes. Returns nullptr if the file has another
  // size, or is on a disk, where such a copy could fail.
  char* of(int fd, size_t size);

 private:
  void let_go();

  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace gt::client
