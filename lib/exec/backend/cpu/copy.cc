#include "exec/backend/cpu/copy.h"

#include <algorithm>
#include <cstring>

#include "exec/backend/cpu/parallel.h"

namespace gt::exec::cpu {
namespace {

// The side of a square tile, in elements. A tile goes through a buffer, since
// rows whose distance is a power of two would fall into the same few places of
// the first-level cache.
constexpr int64_t kTile = 16;

}  // namespace

StridedCopy::StridedCopy(const View& view, size_t size, int threads)
    : count_(view.shape.elements()), size_(size), threads_(threads) {
  const JoinedDimensions joined = join_dimensions(view.shape, {view.strides});
  const Shape& sizes = joined.sizes;
  const Strides& steps = joined.strides[0];
  if (sizes.empty()) return;
  size_t rank = sizes.size();
  inner_ = sizes[rank - 1];
  step_ = steps[rank - 1];
  // Tiles are used if the dimension before the inner one is contiguous in the
  // operand.
  tiled_ = step_ != 1 && step_ != 0 && rank > 1 && steps[rank - 2] == 1;
  rank -= tiled_ ? 2 : 1;
  if (tiled_) across_ = sizes[rank];
  for (size_t d = 0; d < rank; ++d) outer_.push_back(sizes[d]);
  strides_ = steps;
}

template <typename T>
void StridedCopy::rows(const T* from, T* to) const {
  const int64_t least = kWorthAThread / static_cast<int64_t>(sizeof(T));
  const int64_t n = outer_.elements();
  in_parallel(threads_, n, std::max<int64_t>(1, least / inner_),
              [&](int64_t begin, int64_t end) {
                Walk<1> walk(outer_, {strides_});
                walk.seek(begin);
                for (int64_t r = begin; r < end; ++r, walk.next()) {
                  const T* x = from + walk[0];
                  T* y = to + r * inner_;
                  if (step_ == 1) {
                    std::memcpy(y, x, static_cast<size_t>(inner_) * sizeof(T));
                  } else if (step_ == 0) {
                    std::fill_n(y, inner_, *x);
                  } else if (step_ == -1) {  // the compiler makes packs of it
                    for (int64_t i = 0; i < inner_; ++i) y[i] = *(x - i);
                  } else {
                    for (int64_t i = 0; i < inner_; ++i) y[i] = x[i * step_];
                  }
                }
              });
}

// Computes y[i, j] = x[i + j * step]: x is read along i, and y is written along
// j.
template <typename T>
void StridedCopy::tiles(const T* from, T* to) const {
  const int64_t strips = (across_ + kTile - 1) / kTile;
  const int64_t cost = kTile * inner_ * static_cast<int64_t>(sizeof(T));
  each_in_parallel(threads_, outer_.elements() * strips, cost, [&](int64_t u) {
    Walk<1> walk(outer_, {strides_});
    walk.seek(u / strips);
    const int64_t first = u % strips * kTile;
    const int64_t wide = std::min(kTile, across_ - first);
    const T* x = from + walk[0];
    T* y = to + u / strips * across_ * inner_;
    T tile[kTile][kTile];
    for (int64_t j0 = 0; j0 < inner_; j0 += kTile) {
      const int64_t rows = std::min(kTile, inner_ - j0);
      for (int64_t j = 0; j < rows; ++j) {
        const T* from_row = x + first + (j0 + j) * step_;
        for (int64_t i = 0; i < wide; ++i) tile[i][j] = from_row[i];
      }
      for (int64_t i = 0; i < wide; ++i) {
        std::memcpy(y + (first + i) * inner_ + j0, tile[i],
                    static_cast<size_t>(rows) * sizeof(T));
      }
    }
  });
}

void StridedCopy::run(const void* from, void* to) const {
  if (count_ == 0) return;
  const auto by = [&]<typename T>(T) {
    const T* x = static_cast<const T*>(from);
    T* y = static_cast<T*>(to);
    tiled_ ? tiles(x, y) : rows(x, y);
  };
  switch (size_) {
    case 1:
      return by(uint8_t{});
    case 2:
      return by(uint16_t{});
    case 4:
      return by(uint32_t{});
    default:
      return by(uint64_t{});
  }
}

}  // namespace gt::exec::cpu
