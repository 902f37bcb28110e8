// Lines that came before, as they were decoded: a line that comes again costs a
// look-up while what it was decoded under holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/cache.h"
#include "base/seen.h"

namespace gt {

// `Entry` has `std::string text`, by which it is found. A line is kept when it
// comes for the second time, so that lines which never come again neither fill
// the table nor push others out. Whether an entry still holds is for the caller
// to say.
template <typename Entry>
class LineCache {
 public:
  // `sets` is a power of two; there is room for four times as many lines.
  // Without `keeps` it finds nothing.
  explicit LineCache(size_t sets, bool keeps = true)
      : lines_(keeps ? sets : 1), seen_(keeps), keeps_(keeps) {}

  bool may_keep(std::string_view text) const {
    return keeps_ && text.size() <= kMaxText;
  }
  // `hash`: of the text, by hash_bytes(). Null: there is none.
  Entry* find(uint64_t hash, std::string_view text) {
    return may_keep(text) ? lines_.find(hash, text) : nullptr;
  }
  // Whether the entry of a line that was just decoded is to be kept. To be
  // asked once for each time that the line comes and is not found.
  bool wants(uint64_t hash, std::string_view text) {
    return may_keep(text) && seen_.before(hash);
  }
  // Keeps it. Returns what had to go for it, or null.
  std::unique_ptr<Entry> insert(uint64_t hash, std::unique_ptr<Entry> entry) {
    return lines_.insert(hash, std::move(entry));
  }
  void clear() { lines_.clear(); }

 private:
  static constexpr size_t kMaxText = 4096;  // bytes of a line that is kept

  Cache<Entry> lines_;
  Seen seen_;
  bool keeps_;
};

}  // namespace gt
