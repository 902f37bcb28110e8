// Kernels that report the wrong data found by the launches before them to the
// host, see faults.h.
#pragma once

#include "common.cuh"

namespace gt {

// Returns the element at `position`, or a number's bits. in: the operand whose
// element may be wrong, or a number. Args::n: the size of an element in bytes,
// 0 for a number; and 1 if each position has an element, 0 if there is only
// one.
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
// Reports the first wrong position of a run, and resets the word for the next
// run.
inline void tell(const Args& a) {
  GT_EACH(i, 1) {
    const uint64_t position = *a.fault;
    *a.fault = ~uint64_t{0};
    tell_at(a, a.told, position);
  }
}
// Does the same for each item; all items have met the same data.
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

// The first launch of a recording. Its Args::n, which differ each time, are
// written to where Args::base of the other launches points.
inline void begin_recording(const Args& a) {
  GT_EACH(i, 2) { out<int64_t>(a, 0)[i] = a.n[i]; }
}

}  // namespace gt
