// A bounded table from text to what it was decoded to. Set-associative, and it
// resists scans: an entry must be found again before it outlives a newcomer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace gt {

// `Entry` has `std::string text` and belongs to the caller once evicted. All
// lookups are by hash first; the sets are one cache line each.
template <typename Entry>
class Cache {
 public:
  static constexpr size_t kWays = 4;

  // `sets` is a power of two; the table holds up to four times as many.
  explicit Cache(size_t sets) : sets_(sets) {}
  ~Cache() {
    for_each([](Entry* entry) { delete entry; });
  }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  Entry* find(uint64_t hash, std::string_view text) {
    Set& set = set_of(hash);
    const uint32_t tag = tag_of(hash);
    for (size_t way = 0; way < kWays; ++way) {
      Entry* entry = set.entries[way];
      if (set.tags[way] != tag || entry == nullptr) continue;
      if (std::string_view(entry->text) != text) continue;
      set.age[way] = 0;
      return entry;
    }
    return nullptr;
  }

  // Puts it in, or in the place of the entry with its text; returns what had
  // to go, or null.
  std::unique_ptr<Entry> insert(uint64_t hash, std::unique_ptr<Entry> entry) {
    Set& set = set_of(hash);
    const size_t way = victim(set, tag_of(hash), entry->text);
    std::unique_ptr<Entry> old(set.entries[way]);
    set.tags[way] = tag_of(hash);
    set.age[way] = kNew;
    set.entries[way] = entry.release();
    return old;
  }

  void clear() {
    for_each([](Entry* entry) { delete entry; });
    forget();
  }

  template <typename F>
  void for_each(F visit) {
    for (Set& set : sets_) {
      for (Entry* entry : set.entries) {
        if (entry != nullptr) visit(entry);
      }
    }
  }
  // Forgets all; visit() has taken the entries.
  void forget() {
    for (Set& set : sets_) set = Set{};
  }

 private:
  static constexpr uint8_t kNew = 2;
  static constexpr uint8_t kOld = 3;

  struct alignas(64) Set {
    std::array<uint32_t, kWays> tags{};
    std::array<uint8_t, kWays> age{};
    std::array<Entry*, kWays> entries{};
  };

  Set& set_of(uint64_t hash) { return sets_[hash & (sets_.size() - 1)]; }
  static uint32_t tag_of(uint64_t hash) {
    return static_cast<uint32_t>(hash >> 32);
  }

  size_t victim(Set& set, uint32_t tag, std::string_view text) {
    for (size_t way = 0; way < kWays; ++way) {
      const Entry* entry = set.entries[way];
      if (entry == nullptr || (set.tags[way] == tag && entry->text == text)) {
        return way;
      }
    }
    for (;;) {
      for (size_t way = 0; way < kWays; ++way) {
        if (set.age[way] >= kOld) return way;
      }
      for (uint8_t& age : set.age) ++age;
    }
  }

  std::vector<Set> sets_;
};

}  // namespace gt
