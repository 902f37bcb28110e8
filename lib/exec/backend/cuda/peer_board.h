// What a member of a link by copies (peer_copies.h) shows the other processes
// of its host: memory that it alone writes and all of them read.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "exec/memory/arena.h"

namespace gt::exec::cuda {

struct Board {
  static constexpr unsigned kMostMembers = 64;
  enum class State : uint32_t { kNothing, kOpen, kLeft };
  // How many pieces it has written for another member and taken of it, ever.
  struct alignas(64) Counts {
    std::atomic<uint64_t> written, taken;
  };
  std::atomic<State> state;
  CUipcMemHandle staging;  // its area's, once that is open
  std::array<Counts, kMostMembers> with;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// That of this process.
class OwnBoard {
 public:
  static Result<OwnBoard> make();
  Board* operator->() const { return board_; }
  // By which others find it.
  std::string word() const;

 private:
  OwnBoard(std::unique_ptr<Arena> arena, Board* board)
      : arena_(std::move(arena)), board_(board) {}
  std::unique_ptr<Arena> arena_;
  Board* board_;
};

// That of another, which has to be one of the same user.
class OthersBoard {
 public:
  // Error: it is not there, or cannot be read.
  static Result<OthersBoard> find(std::string_view word);
  const Board* operator->() const { return board_; }

 private:
  OthersBoard(std::unique_ptr<MappedArena> arena, const Board* board)
      : arena_(std::move(arena)), board_(board) {}
  std::unique_ptr<MappedArena> arena_;
  const Board* board_;
};

// A word that processes have in common if they can find each other's. Error:
// there is no /proc.
Result<std::string> host_word();

}  // namespace gt::exec::cuda
