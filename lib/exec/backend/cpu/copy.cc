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

// So few elements are a short row, and so many a long one.
constexpr int64_t kShort = 16;
constexpr int64_t kLong = int64_t{1} << 14;

// Copies n bytes. A call of memcpy costs more than some of these.
inline void copy_bytes(const void* from, void* to, size_t n) {
  constexpr size_t kOnce = 16;
  constexpr size_t kMost = 16 * kOnce;
  if (n < kOnce || n > kMost) {
    std::memcpy(to, from, n);
    return;
  }
  const auto* x = static_cast<const char*>(from);
  auto* y = static_cast<char*>(to);
  for (size_t i = 0; i + kOnce < n; i += kOnce)
    std::memcpy(y + i, x + i, kOnce);
  std::memcpy(y + n - kOnce, x + n - kOnce, kOnce);
}

// Copies `rows` rows of n elements, which are `step` apart; the rows themselves
// are `apart` elements apart.
template <typename T>
void copy_rows(const T* x, T* y, int64_t rows, int64_t apart, int64_t n,
               int64_t step) {
  if (n < kShort) {  // a loop over such a row would cost more than its elements
    constexpr int64_t kBlock = 512;
    for (int64_t first = 0; first < rows; first += kBlock) {
      const int64_t last = std::min(rows, first + kBlock);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t r = first; r < last; ++r) {
          y[r * n + i] = x[r * apart + i * step];
        }
      }
    }
    return;
  }
  for (int64_t r = 0; r < rows; ++r, x += apart, y += n) {
    if (step == 1) {
      copy_bytes(x, y, static_cast<size_t>(n) * sizeof(T));
    } else if (step == 0) {
      std::fill_n(y, n, *x);
    } else if (step == -1) {  // the compiler makes packs of it
      for (int64_t i = 0; i < n; ++i) y[i] = *(x - i);
    } else {
      for (int64_t i = 0; i < n; ++i) y[i] = x[i * step];
    }
  }
}

}  // namespace

StridedCopy::StridedCopy(const View& view, size_t size, int threads)
    : count_(view.shape.elements()), size_(size), threads_(threads) {
  const JoinedDimensions joined = join_dimensions(view.shape, {view.strides});
  const Shape& sizes = joined.sizes;
  strides_ = joined.strides[0];
  size_t rank = sizes.size();
  if (rank > 0) {
    inner_ = sizes[--rank];
    step_ = strides_[rank];
  }
  if (rank > 0) {
    rows_ = sizes[--rank];
    apart_ = strides_[rank];
    tiled_ = apart_ == 1 && step_ != 1 && step_ != 0;
  }
  for (size_t d = 0; d < rank; ++d) outer_.push_back(sizes[d]);
}

template <typename T>
void StridedCopy::rows(const T* from, T* to) const {
  const int64_t least = kWorthAThread / static_cast<int64_t>(sizeof(T));
  const int64_t all = outer_.elements() * rows_;
  if (inner_ >= kLong) {  // threads divide the rows themselves
    const int64_t pieces = (inner_ + kLong - 1) / kLong;
    const int64_t cost = kLong * static_cast<int64_t>(sizeof(T));
    each_in_parallel(threads_, all * pieces, cost, [&](int64_t u) {
      Walk<1> walk(outer_, {strides_});
      const int64_t r = u / pieces;
      walk.seek(r / rows_);
      const int64_t first = u % pieces * kLong;
      copy_rows(from + walk[0] + r % rows_ * apart_ + first * step_,
                to + r * inner_ + first, 1, 0, std::min(kLong, inner_ - first),
                step_);
    });
    return;
  }
  in_parallel(threads_, all, std::max<int64_t>(1, least / inner_),
              [&](int64_t begin, int64_t end) {
                Walk<1> walk(outer_, {strides_});
                walk.seek(begin / rows_);
                for (int64_t r = begin; r < end; walk.next()) {
                  const int64_t into = r % rows_;
                  const int64_t n = std::min(rows_ - into, end - r);
                  copy_rows(from + walk[0] + into * apart_, to + r * inner_, n,
                            apart_, inner_, step_);
                  r += n;
                }
              });
}

// Computes y[i, j] = x[i + j * step]: x is read along i, and y is written along
// j.
template <typename T>
void StridedCopy::tiles(const T* from, T* to) const {
  const int64_t strips = (rows_ + kTile - 1) / kTile;
  const int64_t inner = inner_;
  const int64_t cost = kTile * inner * static_cast<int64_t>(sizeof(T));
  each_in_parallel(
      threads_, outer_.elements() * strips, cost, [=, this](int64_t u) {
        Walk<1> walk(outer_, {strides_});
        walk.seek(u / strips);
        const int64_t first = u % strips * kTile;
        const auto wide = static_cast<size_t>(std::min(kTile, rows_ - first));
        const T* x = from + walk[0] + first;
        T* y = to + (u / strips * rows_ + first) * inner;
        T read[kTile][kTile] = {};
        T made[kTile][kTile];
        for (int64_t j0 = 0; j0 < inner; j0 += kTile) {
          const auto high = static_cast<size_t>(std::min(kTile, inner - j0));
          for (size_t j = 0; j < high; ++j, x += step_) {
            std::memcpy(read[j], x, wide * sizeof(T));
          }
          // Whole tiles, so that the compiler makes packs of it.
          for (int64_t i = 0; i < kTile; ++i) {
            for (int64_t j = 0; j < kTile; ++j) made[i][j] = read[j][i];
          }
          for (size_t i = 0; i < wide; ++i) {
            std::memcpy(y + static_cast<int64_t>(i) * inner + j0, made[i],
                        high * sizeof(T));
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
