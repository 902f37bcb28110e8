// conv2d and its gradients as products of tiles, whose factors are read
// directly from the image: no array of windows is made, and every element of a
// result is summed by one block in one order.
#pragma once

#include "tile.cuh"
#include "windows.cuh"

namespace gt {

// Args::n: blocks, groups, tiles of rows and of columns; the product's rows,
// columns and depth; the channels of a group, the outputs of a group, images;
// then the axes (windows.cuh).
template <typename Index>
struct ConvolutionSizes {
  explicit ConvolutionSizes(const Args& a)
      : groups(static_cast<Index>(a.n[1])),
        channels(static_cast<Index>(a.n[7])),
        outputs(static_cast<Index>(a.n[8])),
        h(a.n + 10),
        w(a.n + 16) {}
  Index window() const { return h.kernel * w.kernel; }
  // Returns the index, in the images, of element k of the window at (p, q),
  // where k also counts over the channels of a group; -1 if the element is in
  // the margin.
  Index in_image(Index image, Index group, Index k, Index p, Index q) const {
    const Index channel = k / window();
    const Index in_window = k % window();
    const Index row = h.at(p, in_window / w.kernel);
    const Index column = w.at(q, in_window % w.kernel);
    if (row < 0 || column < 0) return -1;
    return (((image * groups + group) * channels + channel) * h.in + row) *
               w.in +
           column;
  }
  // Returns where, in the convolution's output, the plane of output o of a
  // group begins.
  Index in_made(Index image, Index group, Index o) const {
    return ((image * groups + group) * outputs + o) * h.out * w.out;
  }

  Index groups, channels, outputs;
  WindowAxis<Index> h, w;
};

// The three structs below describe the product of each kind of convolution: the
// elements a(row, k) and b(column, k) of its factors, and the place to(row,
// column) of its result. kAlongDepth: b's neighbours in memory are those along
// k.
template <typename T, typename Index>
struct Forward {  // rows are outputs, columns windows; x, w
  static constexpr bool kAlongDepth = false;
  const ConvolutionSizes<Index>& s;
  const T* x;
  const T* w;
  Index depth, group;

  T a(Index row, Index k) const {
    return w[(group * s.outputs + row) * depth + k];
  }
  T b(Index column, Index k) const {
    const Index q = column % s.w.out;
    const Index p = column / s.w.out % s.h.out;
    const Index image = column / s.w.out / s.h.out;
    const Index at = s.in_image(image, group, k, p, q);
    return at < 0 ? T{} : x[at];
  }
  Index to(Index row, Index column) const {
    const Index plane = s.h.out * s.w.out;
    return s.in_made(column / plane, group, row) + column % plane;
  }
};

template <typename T, typename Index>
struct ByImage {  // rows are channels, columns pixels; g, w
  static constexpr bool kAlongDepth = false;
  const ConvolutionSizes<Index>& s;
  const T* g;
  const T* w;
  Index depth, group;

  T a(Index row, Index k) const {
    const Index output = group * s.outputs + k / s.window();
    return w[(output * s.channels + row) * s.window() + k % s.window()];
  }
  T b(Index column, Index k) const {
    const Index plane = s.h.in * s.w.in;
    const Index pixel = column % plane;
    const Index in_window = k % s.window();
    const Index p = s.h.window_of(pixel / s.w.in, in_window / s.w.kernel);
    const Index q = s.w.window_of(pixel % s.w.in, in_window % s.w.kernel);
    if (p < 0 || q < 0) return T{};
    return g[s.in_made(column / plane, group, k / s.window()) + p * s.w.out +
             q];
  }
  Index to(Index row, Index column) const {
    const Index plane = s.h.in * s.w.in;
    const Index image = column / plane;
    return ((image * s.groups + group) * s.channels + row) * plane +
           column % plane;
  }
};

template <typename T, typename Index>
struct ByWeight {  // rows are outputs, columns elements of a window; g, x
  static constexpr bool kAlongDepth = true;
  const ConvolutionSizes<Index>& s;
  const T* g;
  const T* x;
  Index depth, group;

  T a(Index row, Index k) const {
    const Index plane = s.h.out * s.w.out;
    return g[s.in_made(k / plane, group, row) + k % plane];
  }
  T b(Index column, Index k) const {
    const Index q = k % s.w.out;
    const Index p = k / s.w.out % s.h.out;
    const Index image = k / s.w.out / s.h.out;
    const Index at = s.in_image(image, group, column, p, q);
    return at < 0 ? T{} : x[at];
  }
  Index to(Index row, Index column) const {
    return (group * s.outputs + row) * s.channels * s.window() + column;
  }
};

// Sets each element of a factor to of(row, k); neighbouring threads take
// neighbours in memory.
template <bool kAlongDepth, typename F, typename Of>
inline void fill_factor(int t, F& to, const Of& of) {
#pragma unroll
  for (int e = t; e < F::kRows * F::kDepth; e += kThreads) {
    const int row = kAlongDepth ? e / F::kDepth : e % F::kRows;
    const int k = kAlongDepth ? e % F::kDepth : e / F::kRows;
    to.at(row, k) = of(row, k);
  }
}

// in: the two operands that kWhich names, and a bias for each output, or null.
template <template <typename, typename> class kWhich, typename T,
          typename Index>
inline void convolution(const Args& a) {
  using V = Wide<T>;
  using S = Sums<T, kTile<T>>;
  using F = Factor<T, kTile<T>, kSlice<T>>;
  GT_SHARED F left;
  GT_SHARED F right;
  const ConvolutionSizes<Index> sizes(a);
  const auto rows = static_cast<Index>(a.n[4]);
  const auto columns = static_cast<Index>(a.n[5]);
  const auto depth = static_cast<Index>(a.n[6]);
  GT_BLOCKS(b, a.n[0]) {
    const auto first_row = static_cast<Index>(b % a.n[2] * kTile<T>);
    const auto first_column =
        static_cast<Index>(b / a.n[2] % a.n[3] * kTile<T>);
    const auto group = static_cast<Index>(b / a.n[2] / a.n[3]);
    const kWhich<T, Index> which = {sizes, in<T>(a, 0), in<T>(a, 1), depth,
                                    group};
    Own<S> s;
    GT_PHASE(t) { s.of(t) = S{}; }
    for (Index d = 0; d < depth; d += F::kDepth) {
      GT_PHASE(t) {
        fill_factor<true>(t, left, [&](int r, int k) {
          const bool is_there = first_row + r < rows && d + k < depth;
          return is_there ? which.a(first_row + r, d + k) : T{};
        });
        fill_factor<kWhich<T, Index>::kAlongDepth>(t, right, [&](int c, int k) {
          const bool is_there = first_column + c < columns && d + k < depth;
          return is_there ? which.b(first_column + c, d + k) : T{};
        });
      }
      GT_PHASE(t) { s.of(t).add(t, left, 0, right); }
    }
    GT_PHASE(t) {
#pragma unroll
      for (int i = 0; i < S::kOwnRows; ++i) {
        const Index row = first_row + S::row(t, i);
        if (row >= rows) continue;
        const V bias =
            a.in[2] == 0 ? V(0) : V(widen(in<T>(a, 2)[group * rows + row]));
#pragma unroll
        for (int j = 0; j < S::kOwnColumns; ++j) {
          const Index column = first_column + S::column(t, j);
          if (column >= columns) continue;
          const V sum = s.of(t).value(i, j);
          out<T>(a, 0)[which.to(row, column)] =
              gt::to<T>(a.in[2] == 0 ? sum : sum + bias);
        }
      }
    }
  }
}

}  // namespace gt
