#include "memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace gt::fake {
namespace {

constexpr char kRed = '\xfd';
constexpr int kFresh = 0xff;  // nan, or -1

void need(bool condition) {
  if (!condition) wrong("the fake device cannot have its memory");
}

}  // namespace

void wrong(const char* what, uint64_t address) {
  (void)std::fprintf(stderr, "fake device: %s (address %#" PRIx64 ")\n", what,
                     address);
  std::abort();
}

Memory::Memory() {
  fd_ = ::memfd_create("fake device", MFD_CLOEXEC);
  need(fd_ >= 0 && ::ftruncate(fd_, static_cast<off_t>(kSize)) == 0);
  void* seen = ::mmap(nullptr, kSize, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void* bytes = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_NORESERVE, fd_, 0);
  need(seen != MAP_FAILED && bytes != MAP_FAILED);
  base_ = reinterpret_cast<uint64_t>(seen);
  hidden_ = static_cast<char*>(bytes);
  const char* limit = std::getenv("GT_FAKE_MEMORY");
  limit_ = limit == nullptr ? SIZE_MAX : std::strtoull(limit, nullptr, 10);
}

uint64_t Memory::reserve(size_t bytes) {
  const size_t room = (bytes + 3 * kZone - 1) / kZone * kZone;
  if (used_ + bytes > limit_ || next_ + room > kSize) return 0;
  used_ += bytes;
  const uint64_t address = base_ + next_ + kZone;
  next_ += room;
  blocks_[address] = {bytes, false};
  return address;
}

void Memory::begin(uint64_t address) {
  Block& block = blocks_.at(address);
  block.is_usable = true;
  char* data = hidden(address);
  std::memset(data - kZone, kRed, kZone);
  std::memset(data, kFresh, block.bytes);
  std::memset(data + block.bytes, kRed, kZone);
}

void Memory::end(uint64_t address) {
  const auto it = blocks_.find(address);
  if (it == blocks_.end() || !it->second.is_usable) {
    wrong("memory is freed that is not there", address);
  }
  check_block(it->first, it->second);
  used_ -= it->second.bytes;
  // Whole pages go back to the system; of the rest, who reads it reads nan.
  std::memset(hidden(address), kFresh, it->second.bytes);
  const uint64_t begin = (address - base_ + 4095) & ~uint64_t{4095};
  const uint64_t end = (address - base_ + it->second.bytes) & ~uint64_t{4095};
  if (end > begin) {
    (void)::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      static_cast<off_t>(begin),
                      static_cast<off_t>(end - begin));
  }
  blocks_.erase(it);
}

bool Memory::is_block(uint64_t address) const {
  return blocks_.contains(address);
}

std::map<uint64_t, Memory::Block>::iterator Memory::find(uint64_t address) {
  auto it = blocks_.upper_bound(address);
  if (it == blocks_.begin()) return blocks_.end();
  --it;
  return address <= it->first + it->second.bytes ? it : blocks_.end();
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
