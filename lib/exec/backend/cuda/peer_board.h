// Shared host memory through which the members of a peer-copy link
// (peer_copies.h) tell each other how far they are. Each member writes its own
// board, and the other processes of the host read it.
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
  // The number of pieces that this member has ever written for another member
  // and taken from it.
  struct alignas(64) Counts {
    std::atomic<uint64_t> written, taken;
  };
  std::atomic<State> state;
  // The handle of the member's staging area, valid once `state` is kOpen.
  CUipcMemHandle staging;
  std::array<Counts, kMostMembers> with;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

// The board of this process.
class OwnBoard {
 public:
  static Result<OwnBoard> make();
  Board* operator->() const { return board_; }
  // Returns the text by which other processes find the board.
  std::string word() const;

 private:
  OwnBoard(std::unique_ptr<Arena> arena, Board* board)
      : arena_(std::move(arena)), board_(board) {}
  std::unique_ptr<Arena> arena_;
  Board* board_;
};

// The board of another process, which must belong to the same user.
class OthersBoard {
 public:
  // Maps the board that OwnBoard::word() describes. Error: it is not there or
  // cannot be read.
  static Result<OthersBoard> find(std::string_view word);
  const Board* operator->() const { return board_; }

 private:
  OthersBoard(std::unique_ptr<MappedArena> arena, const Board* board)
      : arena_(std::move(arena)), board_(board) {}
  std::unique_ptr<MappedArena> arena_;
  const Board* board_;
};

// Returns a text that is the same in two processes if they can find each
// other's boards. Error: there is no /proc.
Result<std::string> host_word();

}  // namespace gt::exec::cuda
