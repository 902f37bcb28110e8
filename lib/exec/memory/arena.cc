#include "exec/memory/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#include "exec/memory/memory.h"

namespace gt::exec {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kLeast = size_t{64} << 20;
constexpr size_t kMostReserved = size_t{1} << 40;
// The file can never shrink, so whoever has mapped it can always read all of
// it.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// Respects RLIMIT_FSIZE, since a file beyond that limit raises a signal instead
// of an error.
size_t size_wanted(size_t most) {
  const auto pages = static_cast<size_t>(::sysconf(_SC_PHYS_PAGES));
  size_t size = std::bit_ceil(pages * kPage * 8);
  if (most != 0) size = most;
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY) {
    size = std::min<size_t>(size, limit.rlim_cur);
  }
  return std::min(size, kMostReserved) / kHugePage * kHugePage;
}

Error error_of(const char* what) {
  return Error{std::string("shared memory: ") + what + ": " +
               std::strerror(errno)};
}

}  // namespace

Result<std::unique_ptr<Arena>> Arena::make(size_t most) {
  Fd fd(::memfd_create("gt-values", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.ok()) return error_of("memfd_create");
  void* base = MAP_FAILED;
  size_t size = size_wanted(most);
  for (; size >= kLeast; size /= 2) {
    if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) continue;
    base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    if (base != MAP_FAILED) break;
  }
  if (base == MAP_FAILED) return error_of("mmap");
  std::unique_ptr<Arena> arena(new Arena(std::move(fd), base, size));
  if (::fcntl(arena->fd(), F_ADD_SEALS, kSeals) != 0) return error_of("seals");
  ArenaToken& token = arena->token_;
  if (::getrandom(token.data(), token.size(), 0) !=
      static_cast<ssize_t>(token.size())) {
    return error_of("getrandom");
  }
  std::memcpy(base, token.data(), token.size());
  return arena;
}

Arena::Arena(Fd fd, void* base, size_t size)
    : fd_(std::move(fd)), base_(static_cast<char*>(base)), size_(size) {
  // This is only a hint, as in allocate_aligned().
  (void)::madvise(base, size, MADV_HUGEPAGE);
  add_gap({kPage, size});
}

Arena::~Arena() { ::munmap(base_, size_); }

void Arena::add_gap(Gap gap) {
  by_begin_.emplace(gap.begin, gap.end);
  by_size_.emplace(gap.end - gap.begin, gap.begin);
}

void Arena::remove_gap(Gap gap) {
  by_begin_.erase(gap.begin);
  by_size_.erase({gap.end - gap.begin, gap.begin});
}

// Takes the smallest gap that has room.
void* Arena::allocate(size_t bytes) {
  const size_t alignment = alignment_of(bytes);
  if (bytes > size_) return nullptr;
  const size_t size = round_up(std::max(bytes, kCacheLine), alignment);
  const std::lock_guard lock(mutex_);
  for (auto it = by_size_.lower_bound({size, 0}); it != by_size_.end(); ++it) {
    const Gap gap{it->second, it->second + it->first};
    const size_t begin = round_up(gap.begin, alignment);
    if (begin + size > gap.end) continue;
    remove_gap(gap);
    if (gap.begin < begin) add_gap({gap.begin, begin});
    if (begin + size < gap.end) add_gap({begin + size, gap.end});
    return base_ + begin;
  }
  return nullptr;
}

void Arena::release(void* data, size_t bytes) {
  const size_t size =
      round_up(std::max(bytes, kCacheLine), alignment_of(bytes));
  const auto begin = static_cast<size_t>(static_cast<char*>(data) - base_);
  const std::lock_guard lock(mutex_);
  const Gap gap = join(begin, begin + size);
  add_gap(gap);
  give_back(gap, begin, begin + size);
}

// Returns the range [begin, end) joined with the gaps next to it, which are
// removed.
Arena::Gap Arena::join(size_t begin, size_t end) {
  auto after = by_begin_.lower_bound(begin);
  if (after != by_begin_.begin()) {
    const auto [b, e] = *std::prev(after);
    if (e == begin) {
      remove_gap({b, e});
      begin = b;
    }
  }
  after = by_begin_.lower_bound(begin);
  if (after != by_begin_.end() && after->first == end) {
    const auto [b, e] = *after;
    remove_gap({b, e});
    end = e;
  }
  return {begin, end};
}

// Gives back to the system those pages of a gap that held bytes of the range
// [begin, end), which was in use until now. Small blocks keep their pages for
// the next one: dropping part of a huge page and faulting it in again takes
// longer than filling it.
void Arena::give_back(Gap gap, size_t begin, size_t end) {
  if (end - begin < kHugePage) return;
  const size_t from =
      std::max(round_up(gap.begin, kPage), begin / kPage * kPage);
  const size_t to = std::min(gap.end / kPage * kPage, round_up(end, kPage));
  if (from >= to) return;
  (void)::fallocate(fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(from), static_cast<off_t>(to - from));
}

std::optional<uint64_t> Arena::offset_of(const void* data) const {
  const auto begin = reinterpret_cast<uintptr_t>(base_);
  const auto at = reinterpret_cast<uintptr_t>(data);
  if (at < begin || at >= begin + size_) return std::nullopt;
  return at - begin;
}

Result<std::unique_ptr<MappedArena>> MappedArena::map(uint64_t pid, uint64_t fd,
                                                      uint64_t size,
                                                      const ArenaToken& token) {
  const std::string path =
      "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  // These flags make opening harmless and non-blocking, whatever the file is.
  const Fd opened(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!opened.ok()) return Error{path + ": " + std::strerror(errno)};
  struct stat info {};
  const int seals = ::fcntl(opened.get(), F_GET_SEALS);
  if (::fstat(opened.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      seals < 0 || (seals & F_SEAL_SHRINK) == 0 || size < kPage ||
      static_cast<uint64_t>(info.st_size) != size) {
    return Error{path + " is not the memory that was promised"};
  }
  void* base = ::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_NORESERVE,
                      opened.get(), 0);
  if (base == MAP_FAILED) return Error{path + ": " + std::strerror(errno)};
  std::unique_ptr<MappedArena> mapped(
      new MappedArena(static_cast<const char*>(base), size));
  if (std::memcmp(base, token.data(), token.size()) != 0) {
    return Error{path + " is another's memory: it has another token"};
  }
  return mapped;
}

MappedArena::~MappedArena() {
  ::munmap(const_cast<char*>(base_), size_);  // NOLINT: munmap's signature
}

const void* MappedArena::at(uint64_t offset, size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return nullptr;
  return base_ + offset;
}

}  // namespace gt::exec
