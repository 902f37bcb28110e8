#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace gt::fake {
namespace {

constexpr char kRed = '\xfd';
constexpr int kFresh = 0xff;  // nan, or -1

void need(bool condition) {
  if (!condition) wrong("the fake device cannot have its memory");
}

struct flock lock_of(short type, uint64_t offset, uint64_t bytes) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(offset);
  lock.l_len = static_cast<off_t>(bytes);
  return lock;
}

}  // namespace

void wrong(const char* what, uint64_t address) {
  (void)std::fprintf(stderr, "fake device: %s (address %#" PRIx64 ")\n", what,
                     address);
  std::abort();
}

Memory::Memory() {
  // The thread sanitizer allows no more than 2^36 addresses at once. A device
  // that keeps time runs programs of full size, and gives no address twice.
  size_ = uint64_t{1} << (std::getenv("GT_FAKE_SPEED") == nullptr ? 36 : 42);
  fd_ = ::memfd_create("fake device", MFD_CLOEXEC);
  need(fd_ >= 0 && ::ftruncate(fd_, static_cast<off_t>(size_)) == 0);
  void* seen = ::mmap(nullptr, size_, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void* bytes = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_NORESERVE, fd_, 0);
  need(seen != MAP_FAILED && bytes != MAP_FAILED);
  base_ = reinterpret_cast<uint64_t>(seen);
  hidden_ = static_cast<char*>(bytes);
  const char* limit = std::getenv("GT_FAKE_MEMORY");
  limit_ = limit == nullptr ? SIZE_MAX : std::strtoull(limit, nullptr, 10);
}

uint64_t Memory::reserve(size_t bytes, uint64_t alignment) {
  const uint64_t begin =
      (next_ + kZone + alignment - 1) / alignment * alignment;
  const uint64_t end = (begin + bytes + 2 * kZone - 1) / kZone * kZone;
  if (used_ + bytes > limit_ || end > size_) return 0;
  used_ += bytes;
  next_ = end;
  blocks_[base_ + begin] = {bytes, false};
  return base_ + begin;
}

void Memory::begin(uint64_t address, bool fills) {
  Block& block = blocks_.at(address);
  block.is_usable = true;
  char* data = hidden(address);
  std::memset(data - kZone, kRed, kZone);
  if (fills) std::memset(data, kFresh, block.bytes);
  std::memset(data + block.bytes, kRed, kZone);
}

void Memory::end(uint64_t address) {
  const auto it = blocks_.find(address);
  if (it == blocks_.end() || !it->second.is_usable) {
    wrong("memory is freed that is not there", address);
  }
  check_block(it->first, it->second);
  struct flock lock = lock_of(F_WRLCK, address - base_, it->second.bytes);
  if (::fcntl(fd_, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) {
    wrong("memory is freed that another process has open", address);
  }
  used_ -= it->second.bytes;
  // Whole pages go back to the system, and a reader of the rest reads nan.
  const uint64_t last = address + it->second.bytes;
  const uint64_t begin = std::min((address + kPage - 1) / kPage * kPage, last);
  const uint64_t end = std::max(last / kPage * kPage, begin);
  std::memset(hidden(address), kFresh, begin - address);
  std::memset(hidden(end), kFresh, last - end);
  if (end > begin) {
    (void)::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(begin - base_),
                      static_cast<off_t>(end - begin));
  }
  blocks_.erase(it);
}

bool Memory::is_block(uint64_t address) const {
  return blocks_.contains(address);
}

Memory::Shown Memory::show(uint64_t address) const {
  const auto it = blocks_.find(address);
  if (it == blocks_.end() || address % kPage != 0 ||
      it->second.bytes % kPage != 0) {
    wrong("a block is shown that cannot be", address);
  }
  return {::getpid(), fd_, address - base_, it->second.bytes};
}

// A process that has it open holds a lock on it, by which the owner knows.
uint64_t Memory::open(const Shown& shown) {
  const std::string path =
      "/proc/" + std::to_string(shown.pid) + "/fd/" + std::to_string(shown.fd);
  const int from = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (from < 0) return 0;
  struct flock lock = lock_of(F_RDLCK, shown.offset, shown.bytes);
  const uint64_t address = reserve(shown.bytes, kPage);
  if (address == 0 || ::fcntl(from, F_OFD_SETLK, &lock) != 0) {
    ::close(from);
    return 0;
  }
  blocks_[address].from = from;
  begin(address, false);
  need(::mmap(hidden(address), shown.bytes, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_NORESERVE | MAP_FIXED, from,
              static_cast<off_t>(shown.offset)) != MAP_FAILED);
  return address;
}

bool Memory::close(uint64_t address) {
  const auto it = blocks_.find(address);
  if (it == blocks_.end() || it->second.from < 0) return false;
  need(::mmap(hidden(address), it->second.bytes, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd_,
              static_cast<off_t>(address - base_)) != MAP_FAILED);
  ::close(it->second.from);
  used_ -= it->second.bytes;
  check_block(address, it->second);
  blocks_.erase(it);
  return true;
}

bool Memory::is_foreign(uint64_t address) const {
  const auto it = find(address);
  return it != blocks_.end() && it->second.from >= 0;
}

std::map<uint64_t, Memory::Block>::const_iterator Memory::find(
    uint64_t address) const {
  auto it = blocks_.upper_bound(address);
  if (it == blocks_.begin()) return blocks_.end();
  --it;
  return address <= it->first + it->second.bytes ? it : blocks_.end();
}

std::map<uint64_t, Memory::Block>::iterator Memory::find(uint64_t address) {
  const auto it = std::as_const(*this).find(address);
  return blocks_.erase(it, it);  // the same place, which may be changed
}

uint64_t Memory::bytes_at(uint64_t address) const {
  if (!is_device(address)) return 0;
  const auto it = find(address);
  return it == blocks_.end() ? 0 : it->first + it->second.bytes - address;
}

void* Memory::at(uint64_t address, size_t bytes) {
  const auto it = find(address);
  if (it == blocks_.end()) wrong("memory is used that is not there", address);
  if (!it->second.is_usable) wrong("memory is used too early", address);
  if (address + bytes > it->first + it->second.bytes) {
    wrong("memory is used beyond the end of its block", address);
  }
  return hidden(address);
}

void Memory::check(uint64_t address) {
  const auto it = find(address);
  if (it != blocks_.end() && it->second.is_usable) {
    check_block(it->first, it->second);
  }
}

void Memory::check_block(uint64_t address, const Block& block) {
  const char* data = hidden(address);
  for (size_t i = 0; i < kZone; ++i) {
    if (data[block.bytes + i] != kRed || *(data - 1 - i) != kRed) {
      wrong("memory beside a block was written", address);
    }
  }
}

}  // namespace gt::fake
