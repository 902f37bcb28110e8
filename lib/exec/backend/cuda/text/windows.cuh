// Windows that slide over images, for convolutions and pools.
#pragma once

#include "common.cuh"

namespace gt {

// One of the two spatial dimensions; six entries of Args::n.
template <typename Index>
struct WindowAxis {
  explicit WindowAxis(const int64_t* n)
      : in(static_cast<Index>(n[0])),
        kernel(static_cast<Index>(n[1])),
        stride(static_cast<Index>(n[2])),
        padding(static_cast<Index>(n[3])),
        dilation(static_cast<Index>(n[4])),
        out(static_cast<Index>(n[5])) {}

  // Returns where element i of window p lies in the image; -1 if it is in the
  // margin.
  Index at(Index p, Index i) const {
    const Index place = p * stride - padding + i * dilation;
    return place >= 0 && place < in ? place : -1;
  }
  // Returns the window whose element i lies at `place`; -1 if there is none.
  Index window_of(Index place, Index i) const {
    const Index begin = place + padding - i * dilation;
    if (begin < 0 || begin % stride != 0) return -1;
    return begin / stride < out ? begin / stride : -1;
  }

  Index in, kernel, stride, padding, dilation, out;
};

}  // namespace gt
