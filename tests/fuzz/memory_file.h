// A file in memory, for targets that read or write files.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text = {})
      : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    const auto size = static_cast<ssize_t>(text.size());
    if (::pwrite(fd_, text.data(), text.size(), 0) != size) std::abort();
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  std::string text() const {
    std::string out(static_cast<size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
    if (::pread(fd_, out.data(), out.size(), 0) < 0) std::abort();
    return out;
  }

 private:
  int fd_;
};
