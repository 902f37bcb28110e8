// A cache of decoded lines, by their text: a line that comes again costs one
// look-up. What a line is decoded to depends on more than its text, such as the
// types of the names that it reads. The entry keeps what it depends on (a Stamp
// for each name, symbol_table.h), and the caller compares that before it uses
// the entry.
//
// An entry is found by the text that its line was looked up by. To a worker and
// to gt-route notes are hints: they look a line up by its text without notes
// (stream/notes.h), and then read the notes of the line at hand. What gt-check
// finds and writes depends on the notes (#type=, #grad=, #local), and so does
// what gt-log counts (#signal=): they look a line up by its whole text. That
// costs them little, since gt-emit writes the rounds of a loop with the notes
// of the first.
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

// `Entry` must have a member `std::string text`, by which it is found. A line
// is kept when it comes for the second time, so that lines which never come
// again neither fill the cache nor push others out.
template <typename Entry>
class LineCache {
 public:
  // `sets` must be a power of two; there is room for four times as many lines.
  // If `keeps` is false, nothing is kept and nothing found.
  explicit LineCache(size_t sets, bool keeps = true)
      : lines_(keeps ? sets : 1), seen_(keeps), keeps_(keeps) {}

  // True if a line of that length may be kept.
  bool may_keep(std::string_view text) const {
    return keeps_ && text.size() <= kMaxText;
  }
  // Returns the entry of the text, or null. `hash` must be hash_bytes(text).
  Entry* find(uint64_t hash, std::string_view text) {
    return may_keep(text) ? lines_.find(hash, text) : nullptr;
  }
  // True if a line that was not found, and was then decoded, should be kept: if
  // it came before. Must be called once each time, since it remembers the line.
  bool wants(uint64_t hash, std::string_view text) {
    return may_keep(text) && seen_.before(hash);
  }
  // Keeps the entry. Returns the entry that it replaced or pushed out, or null.
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
