// Sorts numbers together with the places where they stood.
#pragma once

#include <cstdint>

namespace gt::exec::cpu {

struct Item {
  uint64_t rank;
  int64_t place;
  bool operator<(const Item& other) const {
    return rank != other.rank ? rank < other.rank : place < other.place;
  }
};

// Sorts n items by rank; items of one rank stay in their order. `scratch` has
// room for n items. Threads share the work.
void sort_items(Item* items, Item* scratch, int64_t n, int threads);

// The same for numbers without places, which are spread evenly.
void sort_numbers(uint64_t* numbers, uint64_t* scratch, int64_t n, int threads);

}  // namespace gt::exec::cpu
