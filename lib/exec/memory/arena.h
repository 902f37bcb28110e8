// Memory of values that other processes of this host can map: one sparse file
// in memory. Its pages exist once they are written, and go when they are
// released, so its size costs nothing. A value is where it is by an offset.
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

// Random bytes at the start of an arena: whoever maps one knows by them that
// it is the one that was meant.
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
  void release(void* data, size_t bytes);  // as allocated

  int fd() const { return fd_.get(); }
  size_t size() const { return size_; }
  const ArenaToken& token() const { return token_; }
  // Where a value lies; none if elsewhere.
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
  // What the other said: its process, descriptor, size and token; none of it
  // is believed. Error: why it cannot be mapped, or is none.
  static Result<std::unique_ptr<MappedArena>> map(uint64_t pid, uint64_t fd,
                                                  uint64_t size,
                                                  const ArenaToken& token);
  ~MappedArena();
  MappedArena(const MappedArena&) = delete;
  MappedArena& operator=(const MappedArena&) = delete;

  // Null when the bytes are not all within it.
  const void* at(uint64_t offset, size_t bytes) const;

 private:
  MappedArena(const char* base, size_t size) : base_(base), size_(size) {}
  const char* base_;
  size_t size_;
};

}  // namespace gt::exec
