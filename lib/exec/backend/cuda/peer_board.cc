#include "exec/backend/cuda/peer_board.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <utility>

#include "base/hex.h"
#include "base/text.h"

namespace gt::exec::cuda {

Result<OwnBoard> OwnBoard::make() {
  auto arena = Arena::make(size_t{64} << 20);
  if (!arena.ok()) return arena.error();
  void* memory = arena.value()->allocate(sizeof(Board));
  if (memory == nullptr) return Error{"shared memory: it is full"};
  return OwnBoard(std::move(arena.value()), new (memory) Board{});
}

// The text names the process, its descriptor, the size of the memory, the
// board's offset in it, and the arena's token.
std::string OwnBoard::word() const {
  const ArenaToken& token = arena_->token();
  return std::to_string(::getpid()) + "-" + std::to_string(arena_->fd()) + "-" +
         std::to_string(arena_->size()) + "-" +
         std::to_string(*arena_->offset_of(board_)) + "-" +
         to_hex({reinterpret_cast<const char*>(token.data()), token.size()});
}

Result<OthersBoard> OthersBoard::find(std::string_view word) {
  const Error bad{"a place that cannot be"};
  std::array<uint64_t, 4> numbers{};
  for (uint64_t& number : numbers) {
    if (!read_number(take_word(word, "-"), number)) return bad;
  }
  const auto [pid, fd, size, offset] = numbers;
  ArenaToken token;
  const std::span<char> bytes(reinterpret_cast<char*>(token.data()),
                              token.size());
  if (!from_hex(word.substr(word.empty() ? 0 : 1), bytes)) return bad;
  auto arena = MappedArena::map(pid, fd, size, token);
  if (!arena.ok()) return arena.error();
  const void* board = arena.value()->at(offset, sizeof(Board));
  if (board == nullptr || offset % alignof(Board) != 0) return bad;
  return OthersBoard(std::move(arena.value()),
                     static_cast<const Board*>(board));
}

// The text identifies the boot of the machine and the namespace of process
// numbers.
Result<std::string> host_word() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat space {};
  if (boot.empty() || ::stat("/proc/self/ns/pid", &space) != 0) {
    return Error{"there is no /proc, by which GPUs' memory is shown to others"};
  }
  std::replace(boot.begin(), boot.end(), '-', '.');
  return boot + "." + std::to_string(space.st_ino);
}

}  // namespace gt::exec::cuda
