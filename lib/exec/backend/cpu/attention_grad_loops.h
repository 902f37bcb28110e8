// The gradient of attention, a block of queries at a time, with the blocks and
// the layout of attention_loops.h. Scores are computed again from lse (T. Dao
// et al., FlashAttention, 2022, algorithm 4). See pack.h for who may include
// this.
#pragma once

#include "exec/backend/cpu/attention_loops.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

// The prepared form of a block of queries: transposed as [depth][queries], and
// row by row in whole packs.
template <typename T>
struct AttentionGradScratch {
  T *qt, *gt, *q, *g;  // q times scale in qt, go times scale in gt
  T *s, *t;            // [keys][queries]: probabilities and their gradients
  T* gqt;              // [depth][queries]
  int64_t q_row, g_row;
  alignas(64) T lse[kQueries];
  // What is subtracted from the gradients of a row's scores.
  alignas(64) T delta[kQueries];
};

// Copies rows one after another, in whole packs. Rows in their original place,
// a power of two apart, would fall into a few sets of the first-level cache.
template <typename T>
inline void pack_rows(const T* from, int64_t from_row, T* to, int64_t to_row,
                      int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    each_pack<T>(columns, [&](int64_t i, int64_t left) {
      const T* x = from + r * from_row + i;
      store(to + r * to_row + i,
            left == kWidth<T> ? load(x) : load_part(x, left, T{0}));
    });
  }
}

template <typename T>
inline void lay_out(const AttentionGradBlock<T>& x,
                    AttentionGradScratch<T>& to) {
  const AttentionBlock<T>& f = x.forward;
  to.q_row = whole_packs<T>(f.depth) * kWidth<T>;
  to.g_row = whole_packs<T>(f.width) * kWidth<T>;
  to.qt = f.scratch;
  to.gt = to.qt + f.depth * kQueries;
  to.q = to.gt + f.width * kQueries;
  to.g = to.q + to.q_row * kQueries;
  to.s = to.g + to.g_row * kQueries;
  to.t = to.s + kKeys * kQueries;
  to.gqt = to.t + kKeys * kQueries;
}

template <typename T>
inline void make_ready(const AttentionGradBlock<T>& x,
                       AttentionGradScratch<T>& to) {
  const AttentionBlock<T>& f = x.forward;
  lay_out(x, to);
  transpose_block<true>(f.q, f.q_row, to.qt, kQueries, f.queries, f.depth,
                        f.scale);
  transpose_block<true>(x.go, x.go_row, to.gt, kQueries, f.queries, f.width,
                        f.scale);
  pack_rows(f.q, f.q_row, to.q, to.q_row, f.queries, f.depth);
  pack_rows(x.go, x.go_row, to.g, to.g_row, f.queries, f.width);
  clear(to.gqt, f.depth * kQueries);
  for (int64_t i = 0; i < kQueries; ++i) {
    to.lse[i] = i < f.queries ? f.lse[i] : 0;
    // With an lse of +inf, the exponentials of a row that sees nothing become
    // 0.
    if (f.mask != nullptr && to.lse[i] == kNoScore<T>) to.lse[i] = -kNoScore<T>;
    to.delta[i] = 0;
    if (i >= f.queries) continue;
    const T* g = x.go + i * x.go_row;
    const T* o = f.o + i * f.o_row;
    const double sum = join_row<Sum, T>(f.width, [&](int64_t d, int64_t left) {
      return load_rest<Sum, T>(g + d, left) * load_rest<Sum, T>(o + d, left);
    });
    const T more = x.glse == nullptr ? T{0} : x.glse[i];
    to.delta[i] = (static_cast<T>(sum) - more) * f.scale;
  }
}

// Turns the scores in s into probabilities, and the probabilities' gradients in
// t into those of the scores.
template <typename T, int64_t kN>
inline void take_gradient(T* s, T* t, int64_t n, const T* lse, const T* delta) {
  Pack<T> l[kN], d[kN];
  for (int64_t j = 0; j < kN; ++j) {
    l[j] = load(lse + j * kWidth<T>);
    d[j] = load(delta + j * kWidth<T>);
  }
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t j = 0; j < kN; ++j) {
      const int64_t at = r * kQueries + j * kWidth<T>;
      const Pack<T> p = quick_exp(load(s + at) - l[j]);
      store(s + at, p);
      store(t + at, p * (load(t + at) - d[j]));
    }
  }
}

// Computes s, t and what the keys [begin, end) add to gqt, for kN packs of
// queries from pack j on.
template <typename T, int64_t kN>
inline void gradient_of_queries(const AttentionGradBlock<T>& x,
                                const AttentionGradScratch<T>& by, int64_t j,
                                int64_t begin, int64_t end) {
  const AttentionBlock<T>& f = x.forward;
  const int64_t at = j * kWidth<T>;
  const int64_t n = seen_keys(f, at + kN * kWidth<T>, begin, end);
  if (n == 0) return;
  const T* k = f.k + begin * f.k_row;
  const T* v = f.v + begin * f.v_row;
  multiply_columns<Into::kSet, T, kN>(
      {k, f.k_row, 1, by.qt, kQueries, by.s, kQueries, n, kN, f.depth}, j);
  multiply_columns<Into::kSet, T, kN>(
      {v, f.v_row, 1, by.gt, kQueries, by.t, kQueries, n, kN, f.width}, j);
  add_mask<T, kN>(f, by.s, j, begin, n);
  take_gradient<T, kN>(by.s + at, by.t + at, n, by.lse + at, by.delta + at);
  hide<T, kN>(f, by.s, j, begin, n, T{0});
  hide<T, kN>(f, by.t, j, begin, n, T{0});
  if (x.gq == nullptr) return;
  multiply_columns<Into::kAdd, T, kN>(
      {k, 1, f.k_row, by.t, kQueries, by.gqt, kQueries, f.depth, kN, n}, j);
}

// Adds to gk and gv what the queries from lane `lane` on contribute, for n
// keys: rows `row` and on of the block, the first of which is key `key`.
template <typename T>
inline void gradient_of_keys(const AttentionGradBlock<T>& x,
                             const AttentionGradScratch<T>& by, int64_t lane,
                             int64_t key, int64_t row, int64_t n) {
  const AttentionBlock<T>& f = x.forward;
  const int64_t queries = f.queries - lane;
  const int64_t from = row * kQueries + lane;
  const int64_t to = key - x.begin;
  multiply<Into::kAdd, T>({by.s + from, kQueries, 1, by.g + lane * by.g_row,
                           by.g_row, x.gv + to * x.gv_row, x.gv_row, n,
                           whole_packs<T>(f.width), queries});
  multiply<Into::kAdd, T>({by.t + from, kQueries, 1, by.q + lane * by.q_row,
                           by.q_row, x.gk + to * x.gk_row, x.gk_row, n,
                           whole_packs<T>(f.depth), queries});
}

template <typename T>
inline void gradient_of_block(const AttentionGradBlock<T>& x,
                              const AttentionGradScratch<T>& by, int64_t begin,
                              int64_t end) {
  const AttentionBlock<T>& f = x.forward;
  int64_t row = 0;  // rows before this one are done
  query_groups(f, end, [&]<int64_t kN>(int64_t j) {
    gradient_of_queries<T, kN>(x, by, j, begin, end);
  });
  if (x.gk == nullptr) return;
  query_groups(f, end, [&]<int64_t kN>(int64_t j) {
    const int64_t lane = j * kWidth<T>;
    const int64_t n = seen_keys(f, lane + kN * kWidth<T>, begin, end);
    if (n > row) gradient_of_keys(x, by, lane, begin + row, row, n - row);
    row = n;
  });
}

template <typename T>
void attention_grad(const AttentionGradBlock<T>& x) {
  const AttentionBlock<T>& f = x.forward;
  const int64_t end = x.begin + seen_keys(f, kQueries, x.begin, x.end);
  if (end == x.begin && x.gq == nullptr) return;
  AttentionGradScratch<T> by;
  make_ready(x, by);
  for (int64_t key = x.begin; key < end; key += kKeys) {
    const int64_t last = end - key < kKeys ? end : key + kKeys;
    gradient_of_block(x, by, key, last);
  }
  if (x.gq == nullptr) return;
  transpose_block<false>(by.gqt, kQueries, x.gq, x.gq_row, f.depth, f.queries);
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
