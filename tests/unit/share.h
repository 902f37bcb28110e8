// The share of a test's many cases that a run takes. The quick tier runs a
// share of them for each commit, and the full tier all (scripts/test).
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "base/message.h"

namespace gt {

// Of cases with numbers from 0 on, every `step`-th from `first` on.
struct Share {
  size_t first = 0;
  size_t step = 1;

  bool has(size_t number) const { return number % step == first; }
};

// Returns the share that GT_CASE_SHARE="FIRST STEP" asks for, or all cases.
inline Share share_of_run() {
  Share share;
  if (const char* text = std::getenv("GT_CASE_SHARE")) {
    GT_CHECK(std::sscanf(text, "%zu %zu", &share.first, &share.step) == 2 &&
             share.first < share.step);
  }
  return share;
}

}  // namespace gt
