// A hash table of ids whose keys are kept elsewhere, such as in an array that
// the ids are indices of. It uses open addressing with linear probing (Knuth,
// The Art of Computer Programming, vol. 3, section 6.4, algorithms L and R). An
// entry takes eight bytes, and entries are not allocated one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gt {

class IdTable {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = UINT32_MAX;

  // Returns the id that was added with this hash and for which is(id) is true,
  // or kNone. is(id) must compare the key of that id with the key that is
  // looked for.
  template <typename Is>
  Id find(uint64_t hash, const Is& is) const {
    if (entries_.empty()) return kNone;
    const uint32_t tag = tag_of(hash);
    for (size_t at = tag & mask();; at = (at + 1) & mask()) {
      const Entry& entry = entries_[at];
      if (entry.id == kNone) return kNone;
      if (entry.tag == tag && is(entry.id)) return entry.id;
    }
  }

  // Adds an id, whose key must not be in the table yet.
  void add(uint64_t hash, Id id) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    put({tag_of(hash), id});
    ++size_;
  }

  // Removes an id, which must have been added with this hash.
  void remove(uint64_t hash, Id id) {
    size_t gap = tag_of(hash) & mask();
    while (entries_[gap].id != id) gap = (gap + 1) & mask();
    // An entry that the gap separates from its home slot moves into the gap.
    for (size_t at = (gap + 1) & mask(); entries_[at].id != kNone;
         at = (at + 1) & mask()) {
      const size_t home = entries_[at].tag & mask();
      if (((at - home) & mask()) < ((at - gap) & mask())) continue;
      entries_[gap] = entries_[at];
      gap = at;
    }
    entries_[gap].id = kNone;
    --size_;
  }

  size_t size() const { return size_; }
  void clear() {
    entries_.clear();
    size_ = 0;
  }

 private:
  struct Entry {
    // 32 mixed bits of the key's hash; the lower ones are the entry's home
    // slot.
    uint32_t tag = 0;
    Id id = kNone;
  };

  size_t mask() const { return entries_.size() - 1; }
  static uint32_t tag_of(uint64_t hash) {
    return static_cast<uint32_t>((hash * 0x9e3779b97f4a7c15U) >> 32);
  }

  void put(Entry entry) {
    size_t at = entry.tag & mask();
    while (entries_[at].id != kNone) at = (at + 1) & mask();
    entries_[at] = entry;
  }

  void grow() {
    const std::vector<Entry> old = std::exchange(
        entries_, std::vector<Entry>(entries_.empty() ? 64 : 2 * mask() + 2));
    for (const Entry& entry : old) {
      if (entry.id != kNone) put(entry);
    }
  }

  std::vector<Entry> entries_;  // a power of two of them, at most half in use
  size_t size_ = 0;
};

}  // namespace gt
