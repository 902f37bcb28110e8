// The memory of the fake device. Its addresses are those of pages that nobody
// may touch, so a program that follows one ends; the bytes are elsewhere.
// Around each block are red zones; a block that is gone is never there again. A
// block of whole pages can be shown to other processes, where it is at another
// address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace gt::fake {

// Says what a program has done wrong, and ends it.
[[noreturn]] void wrong(const char* what, uint64_t address = 0);

class Memory {
 public:
  static constexpr size_t kZone = 256;
  static constexpr size_t kPage = 4096;

  Memory();

  // Where a block is, for other processes.
  struct Shown {
    int pid, fd;
    uint64_t offset, bytes;
  };

  // The address of a block that becomes usable by begin(); 0 if there is no
  // memory left ($GT_FAKE_MEMORY bytes).
  uint64_t reserve(size_t bytes, uint64_t alignment = kZone);
  void begin(uint64_t address, bool fills = true);
  void end(uint64_t address);  // in the order of the stream
  bool is_block(uint64_t address) const;

  bool is_device(uint64_t address) const {
    return address >= base_ && address < base_ + size_;
  }
  Shown show(uint64_t address) const;
  // The address of a block of another process; 0 if that is not there.
  uint64_t open(const Shown& shown);
  // False if it is no block that was opened.
  bool close(uint64_t address);
  bool is_foreign(uint64_t address) const;

  // The bytes at an address, of which `bytes` must be within a usable block.
  void* at(uint64_t address, size_t bytes);
  // Whether the red zones around the address's block are whole.
  void check(uint64_t address);

  // From the address to the end of its block; 0 if there is none.
  uint64_t bytes_at(uint64_t address) const;

  size_t blocks() const { return blocks_.size(); }

 private:
  struct Block {
    size_t bytes;
    bool is_usable;
    int from = -1;  // the file of another process that it is of
  };
  std::map<uint64_t, Block>::iterator find(uint64_t address);
  std::map<uint64_t, Block>::const_iterator find(uint64_t address) const;
  char* hidden(uint64_t address) { return hidden_ + (address - base_); }
  void check_block(uint64_t address, const Block& block);

  uint64_t base_ = 0;
  uint64_t size_ = 0;  // of addresses alone
  char* hidden_ = nullptr;
  int fd_ = -1;
  uint64_t next_ = 0;
  size_t used_ = 0;
  size_t limit_ = 0;
  std::map<uint64_t, Block> blocks_;
};

}  // namespace gt::fake
