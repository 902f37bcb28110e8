// The memory of the fake device. Its addresses are of pages that nobody may
// touch, so a program that follows one ends in a signal; the bytes are
// elsewhere. Red zones are around each block, and the place of a block that was
// ended is not used again. A block of whole pages can be shown to other
// processes, which have it at another address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace gt::fake {

// Says what a program has done wrong, and ends the program.
[[noreturn]] void wrong(const char* what, uint64_t address = 0);

class Memory {
 public:
  static constexpr size_t kZone = 256;
  static constexpr size_t kPage = 4096;

  Memory();

  // Where other processes find a block.
  struct Shown {
    int pid, fd;
    uint64_t offset, bytes;
  };

  // Reserves a block, which begin() makes usable, and returns its address; 0 if
  // no memory is left ($GT_FAKE_MEMORY bytes).
  uint64_t reserve(size_t bytes, uint64_t alignment = kZone);
  void begin(uint64_t address, bool fills = true);
  void end(uint64_t address);  // called in the order of the stream
  bool is_block(uint64_t address) const;

  bool is_device(uint64_t address) const {
    return address >= base_ && address < base_ + size_;
  }
  Shown show(uint64_t address) const;
  // Opens a block of another process and returns its address; 0 if it is gone.
  uint64_t open(const Shown& shown);
  // Closes it; false if it is no block that was opened.
  bool close(uint64_t address);
  bool is_foreign(uint64_t address) const;

  // The bytes at an address; `bytes` of them must be within a usable block.
  void* at(uint64_t address, size_t bytes);
  // Ends the program if a red zone of the address's block was written.
  void check(uint64_t address);

  // The bytes from the address to the end of its block; 0 if there is no block.
  uint64_t bytes_at(uint64_t address) const;

  size_t blocks() const { return blocks_.size(); }

 private:
  struct Block {
    size_t bytes;
    bool is_usable;
    int from = -1;  // the file of another process
  };
  std::map<uint64_t, Block>::iterator find(uint64_t address);
  std::map<uint64_t, Block>::const_iterator find(uint64_t address) const;
  char* hidden(uint64_t address) { return hidden_ + (address - base_); }
  void check_block(uint64_t address, const Block& block);

  uint64_t base_ = 0;
  uint64_t size_ = 0;  // the addresses, not the memory
  char* hidden_ = nullptr;
  int fd_ = -1;
  uint64_t next_ = 0;
  size_t used_ = 0;
  size_t limit_ = 0;
  std::map<uint64_t, Block> blocks_;
};

}  // namespace gt::fake
