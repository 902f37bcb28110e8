#include "client/view.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace gt::client {
namespace {

bool is_in_memory(int fd, size_t size) {
  struct stat about {};
  struct statfs system {};
  return ::fstat(fd, &about) == 0 &&
         static_cast<size_t>(about.st_size) == size &&
         ::fstatfs(fd, &system) == 0 && system.f_type == TMPFS_MAGIC;
}

}  // namespace

char* View::of(int fd, size_t size) {
  if (!is_in_memory(fd, size)) return nullptr;
  if (size_ == size) return static_cast<char*>(data_);
  let_go();
  void* const data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) return nullptr;
  data_ = data;
  size_ = size;
  return static_cast<char*>(data_);
}

void View::let_go() {
  if (data_ != nullptr) ::munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace gt::client
