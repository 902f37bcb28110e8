// An arena: memory of values that other processes of this host can map, so that
// workers read each other's values where they lie. It is one sparse file in
// memory (memfd_create); its pages exist once they are written and go when they
// are released, so its size costs nothing. Processes name a value by its offset
// in the file.
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

// 16 random bytes, which stand at the start of an arena and which its owner
// tells the others (comm/message.h). Who maps a file and finds them there knows
// that it is the arena that was meant, and on this host.
using ArenaToken = std::array<uint8_t, 16>;

class Arena {
 public:
  // Eight times the machine's memory, so that it never lacks a gap of the right
  // size; less where that cannot be mapped, or `most`, if that is not 0.
  // Error: there is no such memory, or it is limited to less than 64 MiB.
  static Result<std::unique_ptr<Arena>> make(size_t most = 0);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Any thread. As allocate_aligned(); null when no gap is large enough.
  void* allocate(size_t bytes);
  void release(void* data, size_t bytes);  // with the bytes of allocate()

  int fd() const { return fd_.get(); }
  size_t size() const { return size_; }
  const ArenaToken& token() const { return token_; }
  // The offset of an address in the arena; none when it is not within it.
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
  std::map<size_t, size_t> by_begin_;            // gaps: begin, end
  std::set<std::pair<size_t, size_t>> by_size_;  // size, begin
};

// Another process's arena, for reading.
class MappedArena {
 public:
  // The arguments are what the other process said of its arena. None of it is
  // believed: the descriptor, opened under /proc, must be a memory file of that
  // size that can never shrink, so that no read of it faults, and must begin
  // with the token. Error: it cannot be opened or mapped, or is not that.
  static Result<std::unique_ptr<MappedArena>> map(uint64_t pid, uint64_t fd,
                                                  uint64_t size,
                                                  const ArenaToken& token);
  ~MappedArena();
  MappedArena(const MappedArena&) = delete;
  MappedArena& operator=(const MappedArena&) = delete;

  // The address of a value; null when its bytes are not all within the arena.
  const void* at(uint64_t offset, size_t bytes) const;

 private:
  MappedArena(const char* base, size_t size) : base_(base), size_(size) {}
  const char* base_;
  size_t size_;
};

}  // namespace gt::exec
