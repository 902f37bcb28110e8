// An arena is memory for values that other processes of this host can map, so
// that workers read each other's values in place. It is one sparse file in
// memory (memfd_create). Its pages exist only from the first write until they
// are released, so its size costs nothing. Processes refer to a value by its
// offset in the file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/result.h"
#include "file/files.h"

namespace gt::exec {

// 16 random bytes at the start of an arena, which its owner sends to the others
// (comm/message.h). A process that maps a file and finds them there knows that
// it is the right arena, on this host.
using ArenaToken = std::array<uint8_t, 16>;

class Arena {
 public:
  // Creates an arena of `most` bytes or, if that is 0, of eight times the
  // machine's memory, so that it always has a gap of the right size; smaller if
  // that cannot be mapped. Errors: there is no such memory, or it is limited to
  // less than 64 MiB.
  static Result<std::unique_ptr<Arena>> make(size_t most = 0);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Allocates memory aligned as by allocate_aligned(); null if no gap is large
  // enough. Any thread may call it, and release().
  void* allocate(size_t bytes);
  void release(void* data, size_t bytes);  // the same `bytes` as for allocate()

  int fd() const { return fd_.get(); }
  size_t size() const { return size_; }
  const ArenaToken& token() const { return token_; }
  // Returns the offset of an address in the arena; none if it is outside.
  std::optional<uint64_t> offset_of(const void* data) const;

 private:
  Arena(Fd fd, void* base, size_t size);
  struct Gap {
    size_t begin;
    size_t end;
  };
  void add_gap(Gap gap);
  void remove_gap(Gap gap);
  Gap join(size_t begin, size_t end);
  void give_back(Gap gap, size_t begin, size_t end);

  Fd fd_;
  char* base_;
  size_t size_;
  ArenaToken token_{};
  std::mutex mutex_;
  std::map<size_t, size_t> by_begin_;            // the gaps: begin, end
  std::set<std::pair<size_t, size_t>> by_size_;  // the gaps: size, begin
};

// The arena of another process, mapped for reading.
class MappedArena {
 public:
  // Maps an arena. The arguments are what the other process said of it, and are
  // not trusted: the descriptor, opened under /proc, must be a memory file of
  // that size that can never shrink, so that no read of it faults, and it must
  // begin with the token. Errors: it cannot be opened or mapped, or a check
  // fails.
  static Result<std::unique_ptr<MappedArena>> map(uint64_t pid, uint64_t fd,
                                                  uint64_t size,
                                                  const ArenaToken& token);
  ~MappedArena();
  MappedArena(const MappedArena&) = delete;
  MappedArena& operator=(const MappedArena&) = delete;

  // Returns the address of a value; null if not all of its bytes are within the
  // arena.
  const void* at(uint64_t offset, size_t bytes) const;

 private:
  MappedArena(const char* base, size_t size) : base_(base), size_(size) {}
  const char* base_;
  size_t size_;
};

}  // namespace gt::exec
