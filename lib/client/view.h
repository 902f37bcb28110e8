// A file of a store as memory of this process: what is written over and over is
// copied to and from it a third faster than through write(2) and read(2).
#pragma once

#include <cstddef>

namespace gt::client {

class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { let_go(); }

  // Where the bytes of the open file lie, of which there must be this many. The
  // memory is kept until the size is another one. nullptr: the file is of
  // another size, or on a disk, where such a copy could fail.
  char* of(int fd, size_t size);

 private:
  void let_go();

  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace gt::client
