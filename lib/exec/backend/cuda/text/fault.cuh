// Tells the host what the launches before found wrong, see faults.h.
#pragma once

#include "common.cuh"

namespace gt {

// in: the operand whose element may be wrong, or a number. Args::n: the bytes of
// an element, 0 for a number; and 1 if each position has an element, 0 if there
// is one alone.
inline uint64_t wrong_element(const Args& a, uint64_t position) {
  if (a.n[0] == 0 || position == ~uint64_t{0}) return a.in[0];
  const auto at = static_cast<int64_t>(position) * a.n[1] * a.n[0];
  uint64_t element = 0;
  for (int64_t k = 0; k < a.n[0]; ++k) {
    const uint64_t byte = in<uint8_t>(a, 0)[at + k];
    element |= byte << (8 * k);
  }
  return element;
}
inline void tell_at(const Args& a, volatile uint64_t* told, uint64_t position) {
  if (a.base != nullptr) told += a.base[1] / sizeof(uint64_t);
  told[1] = position;
  told[2] = wrong_element(a, position);
  seen_by_host();
  told[0] = 1;
}
inline void tell(const Args& a) {
  GT_EACH(i, 1) {
    const uint64_t position = *a.fault;
    *a.fault = ~uint64_t{0};
    tell_at(a, a.told, position);
  }
}
// The same of each item, all of which met the same data.
inline void tell_each(const Args& a, const Items& items) {
  GT_SHARED uint64_t position;
  GT_BLOCKS(b, 1) {
    GT_PHASE(t) {
      if (t == 0) position = *a.fault;
    }
    GT_PHASE(t) {
      if (t == 0) *a.fault = ~uint64_t{0};
      if (t < items.count) tell_at(a, items.item[t].told, position);
    }
  }
}

// The first launch of a recording, whose Args::n are other ones each time: what
// Args::base of the others points to.
inline void begin_recording(const Args& a) {
  GT_EACH(i, 2) {
    out<int64_t>(a, 0)[i] = a.n[i];
  }
}

}  // namespace gt
