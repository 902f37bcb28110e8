// The memory of the fake device. Its addresses are those of pages that nobody
// may touch, so a program that follows one ends; the bytes are elsewhere.
// Around each block are red zones; a block that is gone is never there again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace gt::fake {

// Says what a program has done wrong, and ends it.
[[noreturn]] void wrong(const char* what, uint64_t address = 0);

class Memory {
 public:
  Memory();

  // The address of a block that becomes usable by begin(); 0 if there is no
  // memory left ($GT_FAKE_MEMORY bytes).
  uint64_t reserve(size_t bytes);
  void begin(uint64_t address);
  void end(uint64_t address);  // in the order of the stream
  bool is_block(uint64_t address) const;

  bool is_device(uint64_t address) const {
    return address >= base_ && address < base_ + kSize;
  }
  // The bytes at an address, of which `bytes` must be within a usable block.
  void* at(uint64_t address, size_t bytes);
  // Whether the red zones around the address's block are whole.
  void check(uint64_t address);

  size_t blocks() const { return blocks_.size(); }

 private:
  // Of addresses alone; a thread sanitizer grants no more at once.
  static constexpr uint64_t kSize = uint64_t{1} << 36;
  static constexpr size_t kZone = 256;
  struct Block {
    size_t bytes;
    bool is_usable;
  };
  std::map<uint64_t, Block>::iterator find(uint64_t address);
  char* hidden(uint64_t address) { return hidden_ + (address - base_); }
  void check_block(uint64_t address, const Block& block);

  uint64_t base_ = 0;
  char* hidden_ = nullptr;
  int fd_ = -1;
  uint64_t next_ = 0;
  size_t used_ = 0;
  size_t limit_ = 0;
  std::map<uint64_t, Block> blocks_;
};

}  // namespace gt::fake
