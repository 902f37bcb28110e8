// A cache of decoded lines, by their text: a line that comes again costs one
// look-up. What a line was decoded to depends on more than its text, such as
// the types of the names that it reads. The entry keeps what it depends on (for
// names a Stamp each, symbol_table.h), and the caller compares that before it
// uses the entry.
//
// The text by which an entry is found is all of the line that the entry comes
// from. A worker and gt-route, to which notes are hints, look a line up by its
// text without them (stream/notes.h), and go through the notes of a line that
// they found. What gt-check finds and writes depends on the notes (#type=,
// #grad=, #local), and so does what gt-log counts (#signal=): they look it up
// by its whole text. That costs them little, since gt-emit writes the rounds of
// a loop with the notes of the first.
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

// `Entry` has a member `std::string text`, by which it is found. A line is kept
// when it comes for the second time, so that lines which never come again
// neither fill the cache nor push others out.
template <typename Entry>
class LineCache {
 public:
  // `sets` must be a power of two; there is room for four times as many lines.
  // Without `keeps` nothing is kept and nothing found.
  explicit LineCache(size_t sets, bool keeps = true)
      : lines_(keeps ? sets : 1), seen_(keeps), keeps_(keeps) {}

  // Whether a line of that length may be kept.
  bool may_keep(std::string_view text) const {
    return keeps_ && text.size() <= kMaxText;
  }
  // The entry of the text, or null. `hash` is that of the text, by
  // hash_bytes().
  Entry* find(uint64_t hash, std::string_view text) {
    return may_keep(text) ? lines_.find(hash, text) : nullptr;
  }
  // Whether a line that was not found, and was decoded, is to be kept: whether
  // it came before. To be asked once each time, since it remembers the line.
  bool wants(uint64_t hash, std::string_view text) {
    return may_keep(text) && seen_.before(hash);
  }
  // Keeps the entry. Returns the one that it replaced or pushed out, or null.
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
