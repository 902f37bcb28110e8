// Attention over blocks of queries and keys, so that no more than one block of
// scores exists at a time (T. Dao et al., FlashAttention, 2022; T. Dao,
// FlashAttention-2, 2023). See pack.h for who may include this.
//
// The lanes of a pack are queries. A block of scores is kept as
// [keys][queries], computed from the rows of k in place and from q, which is
// transposed once for each block. So the softmax of a query runs down a lane,
// and the product with v reads the scores in place. Every element of a result
// is summed in the order of the summed index, in blocks of kKeys keys,
// whichever queries are computed with it: its bits depend neither on where a
// block of queries begins nor on the number of threads.
#pragma once

#include "exec/backend/cpu/block_loops.h"
#include "exec/backend/cpu/exp_loops.h"
#include "exec/backend/cpu/loops.h"
#include "exec/backend/cpu/network_loops.h"
#include "exec/backend/cpu/pack.h"
#include "exec/backend/cpu/transpose_loops.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

constexpr int64_t kQueries = kAttentionQueries;
constexpr int64_t kKeys = kAttentionKeys;

template <typename T>
inline void clear(T* data, int64_t n) {
  std::memset(data, 0, static_cast<size_t>(n) * sizeof *data);
}

template <typename T>
inline int64_t whole_packs(int64_t n) {
  return (n + kWidth<T> - 1) / kWidth<T>;
}

// Returns the most of the keys [begin, end) that any of the first `lanes`
// queries sees.
template <typename T>
inline int64_t seen_keys(const AttentionBlock<T>& x, int64_t lanes,
                         int64_t begin, int64_t end) {
  const int64_t queries = lanes < x.queries ? lanes : x.queries;
  const int64_t seen = x.first + queries;
  const int64_t last = x.causal && seen < end ? seen : end;
  return last > begin ? last - begin : 0;
}

// Calls use.template operator()<n>(first) for groups of n packs of queries.
// Where the causal border crosses the keys before `end`, a group is one pack,
// so that fewer scores are computed in vain.
template <typename T, typename Use>
inline void query_groups(const AttentionBlock<T>& x, int64_t end,
                         const Use& use) {
  const int64_t packs = whole_packs<T>(x.queries);
  if (!x.causal || end - 1 <= x.first) return pack_groups(packs, use);
  for (int64_t j = 0; j < packs; ++j) use.template operator()<1>(j);
}

// Replaces, by `with`, the scores of keys that a query does not see, in kN
// packs of queries from pack j on and n keys from `begin` on.
template <typename T, int64_t kN>
inline void hide(const AttentionBlock<T>& x, T* s, int64_t j, int64_t begin,
                 int64_t n, T with) {
  if (!x.causal) return;
  const int64_t query = x.first + j * kWidth<T>;
  for (int64_t r = query < begin ? 0 : query + 1 - begin; r < n; ++r) {
    for (int64_t p = 0; p < kN; ++p) {
      T* at = s + r * kQueries + (j + p) * kWidth<T>;
      const int64_t hidden = begin + r - query - p * kWidth<T>;
      if (hidden > 0) {
        store(at, first_lanes<T>(hidden) ? splat(with) : load(at));
      }
    }
  }
}

// Adds the mask to kN packs of scores, from pack j on, of n keys from `begin`
// on.
template <typename T, int64_t kN>
inline void add_mask(const AttentionBlock<T>& x, T* s, int64_t j, int64_t begin,
                     int64_t n) {
  if (x.mask == nullptr) return;
  const int64_t first = j * kWidth<T>;
  const int64_t left = x.queries - first;
  const int64_t lanes = left < kN * kWidth<T> ? left : kN * kWidth<T>;
  for (int64_t r = 0; r < n; ++r) {
    const T* from = x.mask + first * x.mask_row + (begin + r) * x.mask_column;
    T* to = s + r * kQueries + first;
    for (int64_t i = 0; i < lanes; ++i) to[i] += from[i * x.mask_row];
  }
}

template <typename T>
constexpr T kNoScore = -static_cast<T>(__builtin_inf());

// The working memory for a block of queries: q as [depth][queries], scores as
// [keys][queries], o as [width][queries], and the running softmax.
template <typename T>
struct Attending {
  T *qt, *s, *ot;
  alignas(64) T largest[kQueries];
  alignas(64) T sum[kQueries];
};

// Raises `largest` to the largest of n rows of scores. Scales the sums of
// exponentials accordingly, and writes to `factor` by how much.
template <typename T, int64_t kN>
inline void raise_largest(const T* s, int64_t n, T* largest, T* sum,
                          T* factor) {
  Pack<T> most[kN];
  for (int64_t j = 0; j < kN; ++j) most[j] = load(largest + j * kWidth<T>);
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t j = 0; j < kN; ++j) {
      most[j] = Largest::join(most[j], load(s + r * kQueries + j * kWidth<T>));
    }
  }
  for (int64_t j = 0; j < kN; ++j) {
    const int64_t at = j * kWidth<T>;
    const Pack<T> old = load(largest + at);
    const Pack<T> by = old == most[j] ? splat(T{1}) : quick_exp(old - most[j]);
    store(largest + at, most[j]);
    store(sum + at, load(sum + at) * by);
    store(factor + at, by);
  }
}

// Replaces scores by exp(score - largest) and adds these to `sum`. If all
// scores so far are -inf, the exponentials are 0.
template <typename T, int64_t kN>
inline void take_exp(T* s, int64_t n, const T* largest, T* sum) {
  Pack<T> most[kN], total[kN];
  for (int64_t j = 0; j < kN; ++j) {
    const Pack<T> m = load(largest + j * kWidth<T>);
    most[j] = m == splat(kNoScore<T>) ? Pack<T>{} : m;
    total[j] = load(sum + j * kWidth<T>);
  }
  for (int64_t r = 0; r < n; ++r) {
    for (int64_t j = 0; j < kN; ++j) {
      T* at = s + r * kQueries + j * kWidth<T>;
      const Pack<T> e = quick_exp(load(at) - most[j]);
      total[j] += e;
      store(at, e);
    }
  }
  for (int64_t j = 0; j < kN; ++j) store(sum + j * kWidth<T>, total[j]);
}

// Adds the keys [begin, end) to the running softmax and to ot, for kN packs of
// queries from pack j on.
template <typename T, int64_t kN>
inline void attend(const AttentionBlock<T>& x, Attending<T>& by, int64_t j,
                   int64_t begin, int64_t end) {
  const int64_t at = j * kWidth<T>;
  const int64_t n = seen_keys(x, at + kN * kWidth<T>, begin, end);
  if (n == 0) return;
  multiply_columns<Into::kSet, T, kN>(
      {x.k + begin * x.k_row, x.k_row, 1, by.qt, kQueries, by.s, kQueries, n,
       kN, x.depth},
      j);
  add_mask<T, kN>(x, by.s, j, begin, n);
  hide<T, kN>(x, by.s, j, begin, n, kNoScore<T>);
  alignas(64) T factor[kQueries];
  raise_largest<T, kN>(by.s + at, n, by.largest + at, by.sum + at, factor + at);
  take_exp<T, kN>(by.s + at, n, by.largest + at, by.sum + at);
  multiply_columns<Into::kScaleAndAdd, T, kN>(
      {x.v + begin * x.v_row, 1, x.v_row, by.s, kQueries, by.ot, kQueries,
       x.width, kN, n, factor},
      j);
}

template <typename T>
inline void finish(const AttentionBlock<T>& x, const Attending<T>& by) {
  for (int64_t i = 0; i < x.queries; i += kWidth<T>) {
    const Pack<T> sum = load(by.sum + i);
    // With no keys, or none that the mask leaves, the mean is 0.
    Pack<T> factor = x.keys == 0 ? Pack<T>{} : 1 / sum;
    if (x.mask != nullptr) factor = sum == Pack<T>{} ? Pack<T>{} : factor;
    for (int64_t d = 0; d < x.width; ++d) {
      T* at = by.ot + d * kQueries + i;
      store(at, load(at) * factor);
    }
    const int64_t left = x.queries - i;
    if (x.lse == nullptr) continue;
    put<T>(x.lse, i, log(sum) + load(by.largest + i),
           left < kWidth<T> ? left : kWidth<T>);
  }
  transpose_block<false>(by.ot, kQueries, x.o, x.o_row, x.width, x.queries);
}

template <typename T>
void attention(const AttentionBlock<T>& x) {
  Attending<T> by;
  by.qt = x.scratch;
  by.s = by.qt + x.depth * kQueries;
  by.ot = by.s + kKeys * kQueries;
  transpose_block<true>(x.q, x.q_row, by.qt, kQueries, x.queries, x.depth,
                        x.scale);
  clear(by.ot, x.width * kQueries);
  for (int64_t i = 0; i < kQueries; ++i) {
    by.largest[i] = kNoScore<T>;
    by.sum[i] = 0;
  }
  const int64_t end = seen_keys(x, kQueries, 0, x.keys);
  for (int64_t key = 0; key < end; key += kKeys) {
    const int64_t last = end - key < kKeys ? end : key + kKeys;
    query_groups(x, last, [&]<int64_t kN>(int64_t j) {
      attend<T, kN>(x, by, j, key, last);
    });
  }
  finish(x, by);
}

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
