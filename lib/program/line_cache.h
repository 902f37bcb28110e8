// A cache of decoded lines, by their text: a line that comes again costs one
// look-up. What a line is decoded to depends on more than its text, such as the
// types of the names that it reads. The entry keeps what it depends on (a Stamp
// for each name, symbol_table.h), and the caller says whether that still holds.
// A text may have several entries, its variants, since a step often has the
// same line twice with other types, as "h = relu h".
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
// is kept when its text comes for the second time, so that texts which never
// come again neither fill the cache nor push others out.
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
  // Returns the first entry of the text for which `holds(entry)` is true, or
  // null. `hash` must be hash_bytes(text).
  template <typename Holds>
  Entry* find(uint64_t hash, std::string_view text, const Holds& holds) {
    if (!may_keep(text)) return nullptr;
    for (size_t variant = 0; variant < kVariants; ++variant) {
      Entry* entry = lines_.find(hash_of(hash, variant), text);
      if (entry == nullptr || holds(*entry)) return entry;
    }
    return nullptr;
  }
  // True if a line that was not found, and was then decoded, should be kept: if
  // it came before. Must be called once each time, since it remembers the line.
  bool wants(uint64_t hash, std::string_view text) {
    return may_keep(text) && seen_.before(hash);
  }
  // Keeps the entry beside those of the same text; in the place of the first of
  // them for which `is_dead(entry)` is true, since it will never hold again, or
  // of any if there are too many. Returns the entry that it replaced or pushed
  // out, or null.
  template <typename Dead>
  std::unique_ptr<Entry> insert(uint64_t hash, std::unique_ptr<Entry> entry,
                                const Dead& is_dead) {
    size_t variant = 0;
    for (; variant < kVariants; ++variant) {
      Entry* old = lines_.find(hash_of(hash, variant), entry->text);
      if (old == nullptr || is_dead(*old)) break;
    }
    if (variant == kVariants) variant = any_variant();
    return lines_.insert(hash_of(hash, variant), std::move(entry));
  }
  void clear() { lines_.clear(); }

 private:
  static constexpr size_t kMaxText = 4096;  // bytes of a line that is kept
  static constexpr size_t kVariants = 8;

  // Variants are found in different sets of the cache, so that a text with many
  // does not push out all others of its set.
  static uint64_t hash_of(uint64_t hash, size_t variant) {
    return hash + variant * 0x9e3779b97f4a7c15;
  }
  // Mostly the last one: if it were always the oldest, a loop with one variant
  // too many would find none of them.
  size_t any_variant() {
    return ++replaced_ % 4 != 0 ? kVariants - 1 : replaced_ / 4 % kVariants;
  }

  Cache<Entry> lines_;
  Seen seen_;
  uint64_t replaced_ = 0;  // variants, of all texts
  bool keeps_;
};

}  // namespace gt
