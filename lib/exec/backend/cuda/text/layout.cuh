// Ops that move elements, and ops that create tensors from a few numbers.
#pragma once

#include "common.cuh"
#include "integer.cuh"
#include "philox.cuh"

namespace gt {

// Copies elements from the operand to the result; each side has a place of its
// own. Args::n: elements, the operand's offset and the result's offset, then
// the places of the operand and of the result.
template <typename T, typename R>
inline void move(const Args& a, int64_t extra = 0) {
  const int64_t* from = a.n + 3;
  const int64_t* into = from + place_size(from);
  const T* x = in<T>(a, 0) + a.n[1] + extra;
  R* y = out<R>(a, 0) + a.n[2];
  GT_EACH(i, a.n[0]) {
    const T value = x[place(from, i)];
    if constexpr (kSame<T, R>) {
      y[place(into, i)] = value;
    } else {
      y[place(into, i)] = to<R>(widen(value));
    }
  }
}

// Does the same where neighbours in the operand belong to different rows of the
// result. It goes through tiles in memory of the block, so that both sides are
// accessed in the order in which they lie in memory. Args::n: blocks, the two
// offsets, rows and columns of a matrix, the stride of the operand's columns
// and that of the result's rows, tiles of rows and of columns, then the places
// of matrices in the operand and in the result.
template <typename T>
inline void transpose(const Args& a) {
  constexpr int kSide = 32;
  GT_SHARED T tile[kSide][kSide + 1];
  const int64_t rows = a.n[3];
  const int64_t columns = a.n[4];
  const int64_t* from = a.n + 9;
  const int64_t* into = from + place_size(from);
  GT_BLOCKS(b, a.n[0]) {
    const int64_t column = b % a.n[8] * kSide;
    const int64_t row = b / a.n[8] % a.n[7] * kSide;
    const int64_t matrix = b / a.n[8] / a.n[7];
    const T* x = in<T>(a, 0) + a.n[1] + place(from, matrix);
    T* y = out<T>(a, 0) + a.n[2] + place(into, matrix);
    GT_PHASE(t) {
      const int64_t r = row + t % kSide;
      for (int c = t / kSide; c < kSide; c += kThreads / kSide) {
        if (r < rows && column + c < columns) {
          tile[c][t % kSide] = x[(column + c) * a.n[5] + r];
        }
      }
    }
    GT_PHASE(t) {
      const int64_t c = column + t % kSide;
      for (int r = t / kSide; r < kSide; r += kThreads / kSide) {
        if (row + r < rows && c < columns) {
          y[(row + r) * a.n[6] + c] = tile[t % kSide][r];
        }
      }
    }
  }
}

// Does the same as move() for a slice that begins where operand 1 says. Args::n
// from 68 on: the operand's size along the axis, the last start, its stride.
template <typename T, typename Start>
inline void move_from(const Args& a) {
  const int64_t start = to<i64>(widen(Start::at(a, 1, 0)));
  const int64_t from = start < 0 ? start + a.n[68] : start;
  if (from < 0 || from > a.n[69]) {
    fault(a, 0);
  } else {
    move<T, T>(a, from * a.n[70]);
  }
}

// Writes one value everywhere. Args::n: elements.
template <typename R, typename Value>
inline void fill(const Args& a) {
  const R value = to<R>(widen(Value::at(a, 0, 0)));
  GT_EACH(i, a.n[0]) { out<R>(a, 0)[i] = value; }
}

// Adds each element of an array's windows to its place in the array. Along an
// axis, a window begins every `stride` elements and has `size` elements that
// are `dilation` apart. Args::n: elements of the result, its size and its
// stride along the axis; windows, size, stride, dilation.
template <typename T, typename R>
inline void windows_grad(const Args& a) {
  const int64_t rows = a.n[1];
  const int64_t step = a.n[2];
  const int64_t windows = a.n[3];
  const int64_t size = a.n[4];
  GT_EACH(i, a.n[0]) {
    const int64_t inner = i % step;
    const int64_t row = i / step % rows;
    const int64_t outer = i / step / rows;
    Wide<R> sum = 0;
    for (int64_t k = size; k-- > 0;) {
      const int64_t begin = row - k * a.n[6];
      if (begin < 0 || begin % a.n[5] != 0) continue;
      const int64_t window = begin / a.n[5];
      if (window >= windows) continue;
      const int64_t at = ((outer * windows + window) * step + inner) * size + k;
      sum += widen(in<T>(a, 0)[at]);
    }
    out<R>(a, 0)[i] = to<R>(sum);
  }
}

// ---- creation: element i of a part is element g of the whole ----------------

// Returns which element of the whole tensor element i of the part is. Args::n:
// elements, the index in the whole of the first one, and the place of the
// others.
inline int64_t in_whole(const Args& a, int64_t i) {
  return a.n[1] + place(a.n + 2, i);
}

// Writes start + g * step, computed in f64 or in integers.
template <typename R, bool kReal, typename Start, typename Step>
inline void arange(const Args& a) {
  GT_EACH(i, a.n[0]) {
    const int64_t g = in_whole(a, i);
    if constexpr (kReal) {
      const auto start = static_cast<f64>(widen(Start::at(a, 0, 0)));
      const auto step = static_cast<f64>(widen(Step::at(a, 1, 0)));
      out<R>(a, 0)[i] = to<R>(start + static_cast<f64>(g) * step);
    } else {
      const Wrap<i64> start = to<i64>(widen(Start::at(a, 0, 0)));
      const Wrap<i64> step = to<i64>(widen(Step::at(a, 1, 0)));
      out<R>(a, 0)[i] = to<R>((start + Wrap<i64>(g) * step).value);
    }
  }
}

// Args::n[70]: the number of columns of the whole tensor.
template <typename R>
inline void eye(const Args& a) {
  GT_EACH(i, a.n[0]) {
    const int64_t g = in_whole(a, i);
    out<R>(a, 0)[i] = to<R>(i64{g / a.n[70] == g % a.n[70] ? 1 : 0});
  }
}

template <typename Seed>
inline uint64_t seed_of(const Args& a) {
  return static_cast<uint64_t>(to<i64>(widen(Seed::at(a, 0, 0))));
}

template <typename R, int kDigits, typename Seed>
inline void rand(const Args& a) {
  const uint64_t seed = seed_of<Seed>(a);
  GT_EACH(i, a.n[0]) {
    const auto g = static_cast<uint64_t>(in_whole(a, i));
    out<R>(a, 0)[i] = to<R>(philox::uniform(philox::word(seed, g), kDigits));
  }
}

// in[1] is the scale, as a number.
template <typename R, typename Seed>
inline void randn(const Args& a) {
  const uint64_t seed = seed_of<Seed>(a);
  const f64 scale = bits_as<f64>(a.in[1]);
  GT_EACH(i, a.n[0]) {
    const auto g = static_cast<uint64_t>(in_whole(a, i));
    const philox::Circle z = philox::normal(philox::pair(seed, g / 2));
    out<R>(a, 0)[i] = to<R>((g % 2 == 0 ? z.cos : z.sin) * scale);
  }
}

// Writes the random words that randperm sorts by.
template <typename Seed>
inline void words(const Args& a) {
  const uint64_t seed = seed_of<Seed>(a);
  GT_EACH(i, a.n[0]) {
    out<uint64_t>(a, 0)[i] = philox::word(seed, static_cast<uint64_t>(i));
  }
}

}  // namespace gt
