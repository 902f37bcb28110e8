// A cache of bounded size, from a text to what the text was decoded to. It is
// set-associative (four entries a set) and resists scans: a new entry begins
// almost old, and becomes young only when its text is found, so that a run of
// texts that never come again does not push out those that do.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace gt {

// `Entry` has a member `std::string text`, its key. Every hash that is passed
// in is that of the text. A set fills one cache line of the CPU. The cache owns
// its entries; an evicted entry is handed to the caller of insert().
template <typename Entry>
class Cache {
 public:
  static constexpr size_t kWays = 4;

  // `sets` must be a power of two; the cache holds up to four entries a set.
  explicit Cache(size_t sets) : sets_(sets) {}
  ~Cache() {
    for_each([](Entry* entry) { delete entry; });
  }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  // Returns the entry of the text, or null. It stays valid until it is evicted.
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

  // Adds the entry, in the place of the one with the same text if there is one.
  // Returns the entry that it replaced or evicted, or null.
  std::unique_ptr<Entry> insert(uint64_t hash, std::unique_ptr<Entry> entry) {
    Set& set = set_of(hash);
    const size_t way = victim(set, tag_of(hash), entry->text);
    std::unique_ptr<Entry> old(set.entries[way]);
    set.tags[way] = tag_of(hash);
    set.age[way] = kNew;
    set.entries[way] = entry.release();
    return old;
  }

  // Deletes all entries.
  void clear() {
    for_each([](Entry* entry) { delete entry; });
    for (Set& set : sets_) set = Set{};
  }

  template <typename F>
  void for_each(F visit) {
    for (Set& set : sets_) {
      for (Entry* entry : set.entries) {
        if (entry != nullptr) visit(entry);
      }
    }
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
