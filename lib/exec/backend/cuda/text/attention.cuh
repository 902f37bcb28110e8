// Attention and its gradient, computed a tile of scores at a time, so that
// memory grows with the number of tokens and not with its square: T. Dao,
// FlashAttention-2, arXiv 2307.08691; the running softmax is by M. Milakov and
// N. Gimelshein, arXiv 1805.02867. Every result is written by one block of
// threads, and sums go over tiles in the order of the summed dimension, so the
// bits depend neither on where rows begin nor on timing.
#pragma once

#include "tile.cuh"

namespace gt {

// The entries of Args::n in all kernels of this file.
enum AttentionNumber {
  kBlockCount,
  // Matrices of scores: one for each leading position and head.
  kUnits,
  kTiles,  // tiles of a unit
  // Parts of the results' columns; a block works on one tile and one chunk.
  kChunks,
  kHeads,
  kQueries,
  kKeys,
  kHeadDepth,
  kHeadWidth,
  kCausal,
  kFirst,  // if causal, row i sees the columns up to kFirst + i
  kScale,  // bits of f64
  kGroup,  // heads of q in a row that share one head of k and v
  // Leading positions of q that share one of k and v.
  kLeadGroup,
  kMaskRow,  // a stride, like the next entry
  kMaskColumn,
  // From here on: the places of q, k and v over the leading positions, and the
  // place of the mask over the units.
  kPlaces,
};
enum MaskKind { kNoMask, kBoolMask, kFloatMask };

// The part of the work that one block of threads does. With `last_first`, which
// suits causal attention, the tiles with the longest rows come first.
struct AttentionBlock {
  AttentionBlock(const Args& a, int64_t b, bool last_first) {
    chunk = b % a.n[kChunks];
    unit = b / a.n[kChunks] % a.n[kUnits];
    tile = b / a.n[kChunks] / a.n[kUnits];
    if (last_first) tile = a.n[kTiles] - 1 - tile;
    lead = unit / a.n[kHeads];
    head = unit % a.n[kHeads];
  }
  // Returns the index of the unit's first element in a tensor of n rows whose
  // heads have `size` elements.
  int64_t at(const Args& a, int64_t n, int64_t size) const {
    return (lead * n * a.n[kHeads] + head) * size;
  }
  int64_t chunk, unit, tile, lead, head;
};

// The matrices of a unit, from their first rows on.
template <typename T>
struct AttentionHead {
  AttentionHead(const Args& a, const AttentionBlock& b) {
    const int64_t* n = a.n;
    const int64_t* to_q = n + kPlaces;
    const int64_t* to_k = to_q + place_size(to_q);
    const int64_t* to_v = to_k + place_size(to_k);
    const int64_t* to_mask = to_v + place_size(to_v);
    // Number of heads of k and v.
    const int64_t heads = n[kHeads] / n[kGroup];
    const int64_t head = b.head / n[kGroup];
    const int64_t q_lead = place(to_q, b.lead);
    const int64_t k_lead = place(to_k, b.lead) / n[kLeadGroup];
    const int64_t v_lead = place(to_v, b.lead) / n[kLeadGroup];
    q = {in<T>(a, 0) +
             (q_lead * n[kQueries] * n[kHeads] + b.head) * n[kHeadDepth],
         n[kHeads] * n[kHeadDepth], n[kQueries], n[kHeadDepth]};
    k = {in<T>(a, 1) + (k_lead * n[kKeys] * heads + head) * n[kHeadDepth],
         heads * n[kHeadDepth], n[kKeys], n[kHeadDepth]};
    v = {in<T>(a, 2) + (v_lead * n[kKeys] * heads + head) * n[kHeadWidth],
         heads * n[kHeadWidth], n[kKeys], n[kHeadWidth]};
    mask = place(to_mask, b.unit);
    scale = static_cast<Wide<T>>(bits_as<f64>(n[kScale]));
  }

  Matrix<T> q, k, v;
  int64_t mask;
  Wide<T> scale;
};

// Returns the most columns that any row before `row` sees.
inline int64_t seen_columns(const Args& a, int64_t row) {
  const int64_t rows = row < a.n[kQueries] ? row : a.n[kQueries];
  const int64_t seen = a.n[kFirst] + rows;
  return a.n[kCausal] != 0 && seen < a.n[kKeys] ? seen : a.n[kKeys];
}

// Returns a score for softmax, made of the product of a row and a column; -inf
// if the row does not see the column or one of them does not exist.
template <typename T, int kMask, int kMaskOperand>
inline Wide<T> score(const Args& a, const AttentionHead<T>& head, int64_t row,
                     int64_t column, Wide<T> product) {
  using V = Wide<T>;
  const V none = -V(bits_as<f32>(0x7f800000));
  const bool is_there = row < a.n[kQueries] && column < a.n[kKeys];
  if (!is_there || (a.n[kCausal] != 0 && column > a.n[kFirst] + row)) {
    return none;
  }
  const int64_t at =
      head.mask + row * a.n[kMaskRow] + column * a.n[kMaskColumn];
  if constexpr (kMask == kBoolMask) {
    if (in<boolean>(a, kMaskOperand)[at].value == 0) return none;
  }
  V s = product * head.scale;
  if constexpr (kMask == kFloatMask) s += widen(in<T>(a, kMaskOperand)[at]);
  return s;
}

// The running softmax of a tile's rows, in memory of the block.
template <typename V, int kRows, int kOwners>
struct RunningSoftmax {
  V most[kRows];
  V sum[kRows];
  V factor[kRows];  // factor by which the sums so far must be scaled
  V part[kRows][kOwners + 1];
};

// Adds a tile of scores to the running softmax: p becomes exp(score - most).
template <typename T, typename S, typename R, typename P>
inline void take_scores(Own<S>& scores, R& rows, P& p) {
  using V = typename S::V;
  const V none = -V(bits_as<f32>(0x7f800000));
  GT_PHASE(t) {
    S& s = scores.of(t);
#pragma unroll
    for (int i = 0; i < S::kOwnRows; ++i) {
      V most = none;
#pragma unroll
      for (int j = 0; j < S::kOwnColumns; ++j) {
        most = greater(most, s.value(i, j));
      }
      rows.part[S::row(t, i)][S::owner(t)] = most;
    }
  }
  GT_PHASE(t) {
    if (t < P::kRows) {
      V most = rows.most[t];
      for (int o = 0; o < S::kOwners; ++o)
        most = greater(most, rows.part[t][o]);
      rows.factor[t] = most == rows.most[t] ? V(1) : exp(rows.most[t] - most);
      rows.most[t] = most;
    }
  }
  GT_PHASE(t) {
    S& s = scores.of(t);
#pragma unroll
    for (int i = 0; i < S::kOwnRows; ++i) {
      const int row = S::row(t, i);
      // A row that has seen no column so far has no greatest score.
      const V most = rows.most[row] == none ? V(0) : rows.most[row];
      V sum = 0;
#pragma unroll
      for (int j = 0; j < S::kOwnColumns; ++j) {
        const V e = exp(s.value(i, j) - most);
        sum += e;
        p.at(row, S::column(t, j)) = to<T>(e);
      }
      rows.part[row][S::owner(t)] = sum;
    }
  }
  GT_PHASE(t) {
    if (t < P::kRows) {
      V sum = rows.sum[t] * rows.factor[t];
      for (int o = 0; o < S::kOwners; ++o) sum += rows.part[t][o];
      rows.sum[t] = sum;
    }
  }
}

// Writes the sums, each multiplied by its row's factor, to the rows and columns
// that begin at `to`.
template <typename T, typename S, typename By>
inline void store_sums(int t, S& s, T* to, const Matrix<T>& like,
                       const By& factor) {
#pragma unroll
  for (int i = 0; i < S::kOwnRows; ++i) {
    const int row = S::row(t, i);
    if (row >= like.rows) continue;
    const auto by = factor(row);
#pragma unroll
    for (int j = 0; j < S::kOwnColumns; ++j) {
      const int column = S::column(t, j);
      if (column >= like.columns) continue;
      to[row * like.stride + column] = gt::to<T>(s.value(i, j) * by);
    }
  }
}

// Computes o [lse] from q, k, v and perhaps a mask. A block computes kTile rows
// and kWide times as many columns of o.
template <typename T, int kMask, int kWide>
inline void attention(const Args& a) {
  using V = Wide<T>;
  using S = Sums<T, kTile<T>>;
  using O = Sums<T, kWide * kTile<T>>;
  constexpr int kRows = kTile<T>;
  GT_SHARED Factor<T, kRows, kSlice<T>> left;
  GT_SHARED Factor<T, kWide * kRows, kSlice<T>> right;
  GT_SHARED Factor<T, kRows, kRows> p;
  GT_SHARED RunningSoftmax<V, kRows, S::kOwners> rows;
  GT_BLOCKS(b, a.n[kBlockCount]) {
    const AttentionBlock at(a, b, true);
    const AttentionHead<T> head(a, at);
    const int64_t row = at.tile * kRows;
    const int64_t column = at.chunk * kWide * kRows;
    Own<S> s;
    Own<O> o;
    GT_PHASE(t) {
      o.of(t) = O{};
      if (t < kRows) {
        rows.most[t] = -V(bits_as<f32>(0x7f800000));
        rows.sum[t] = 0;
      }
    }
    const int64_t end = seen_columns(a, row + kRows);
    for (int64_t key = 0; key < end; key += kRows) {
      multiply_rows(s, left, right, head.q.from(row, 0), head.k.from(key, 0));
      GT_PHASE(t) {
#pragma unroll
        for (int i = 0; i < S::kOwnRows; ++i) {
#pragma unroll
          for (int j = 0; j < S::kOwnColumns; ++j) {
            V& value = s.of(t).value(i, j);
            value = score<T, kMask, 3>(a, head, row + S::row(t, i),
                                       key + S::column(t, j), value);
          }
        }
      }
      take_scores<T>(s, rows, p);
      GT_PHASE(t) {
        O& sums = o.of(t);
#pragma unroll
        for (int i = 0; i < O::kOwnRows; ++i) {
#pragma unroll
          for (int j = 0; j < O::kOwnColumns; ++j) {
            sums.value(i, j) *= rows.factor[O::row(t, i)];
          }
        }
      }
      multiply_columns(o, p, right, head.v.from(key, column));
    }
    GT_PHASE(t) {
      const int64_t stride = a.n[kHeads] * a.n[kHeadWidth];
      const Matrix<T> like = {nullptr, stride, a.n[kQueries] - row,
                              a.n[kHeadWidth] - column};
      store_sums(t, o.of(t),
                 out<T>(a, 0) + at.at(a, a.n[kQueries], a.n[kHeadWidth]) +
                     row * stride + column,
                 like, [&](int r) {
                   // A row that sees no column, because there are none or
                   // because of the mask, gives 0.
                   const bool may_be_none = kMask != kNoMask || a.n[kKeys] == 0;
                   return may_be_none && rows.sum[r] == 0 ? V(0)
                                                          : V(1) / rows.sum[r];
                 });
      if (a.out[1] != 0 && at.chunk == 0 && t < kRows &&
          row + t < a.n[kQueries]) {
        out<V>(a, 1)[at.unit * a.n[kQueries] + row + t] =
            log(rows.sum[t]) + rows.most[t];
      }
    }
  }
}

// ---- backwards --------------------------------------------------------------

// Computes delta, which is subtracted from the gradients of a row's scores: the
// sum of go o, minus glse. A block does 16 rows. in: o, go, glse or null.
template <typename T>
inline void attention_delta(const Args& a) {
  using V = Wide<T>;
  GT_SHARED V part[16][17];
  const int64_t width = a.n[kHeadWidth];
  const int64_t rows = a.n[kUnits] * a.n[kQueries];
  GT_BLOCKS(b, a.n[kBlockCount]) {
    GT_PHASE(t) {
      const int64_t r = b * 16 + t / 16;
      V sum = 0;
      if (r < rows) {
        const int64_t unit = r / a.n[kQueries];
        const int64_t from =
            ((unit / a.n[kHeads] * a.n[kQueries] + r % a.n[kQueries]) *
                 a.n[kHeads] +
             unit % a.n[kHeads]) *
            width;
        for (int64_t i = t % 16; i < width; i += 16) {
          sum +=
              V(widen(in<T>(a, 0)[from + i])) * V(widen(in<T>(a, 1)[from + i]));
        }
      }
      part[t / 16][t % 16] = sum;
    }
    GT_PHASE(t) {
      const int64_t r = b * 16 + t;
      if (t < 16 && r < rows) {
        V sum = 0;
        for (int i = 0; i < 16; ++i) sum += part[t][i];
        out<V>(a, 0)[r] = a.in[2] == 0 ? sum : sum - in<V>(a, 2)[r];
      }
    }
  }
}

// The operands of both kernels below are q, k, v, go, lse, the result of
// attention_delta, and the mask.
template <typename T>
inline Matrix<T> gradient_of_o(const Args& a, const AttentionBlock& at) {
  return {in<T>(a, 3) + at.at(a, a.n[kQueries], a.n[kHeadWidth]),
          a.n[kHeads] * a.n[kHeadWidth], a.n[kQueries], a.n[kHeadWidth]};
}

// The lse and delta of a tile's rows, in memory of the block.
template <typename V, int kRows>
struct RowEnds {
  V lse[kRows];
  V delta[kRows];
};
template <typename V, int kRows>
inline void load_ends(int t, const Args& a, int64_t unit, int64_t row,
                      RowEnds<V, kRows>& to) {
  if (t >= kRows) return;
  const V infinity = V(bits_as<f32>(0x7f800000));
  const bool is_there = row + t < a.n[kQueries];
  const int64_t at = unit * a.n[kQueries] + row + t;
  const V lse = is_there ? in<V>(a, 4)[at] : infinity;
  // With an lse of +inf, the probabilities of a row that sees nothing become 0.
  to.lse[t] = lse == -infinity ? infinity : lse;
  to.delta[t] = is_there ? in<V>(a, 5)[at] : V(0);
}

// Turns s, the products of q and k, into probabilities, and g, their gradients
// go v^T, into gradients of the scores. The tiles have rows of queries from
// `row` on and columns of keys from `key` on.
template <typename T, int kMask, typename S, typename R>
inline void take_gradients(int t, const Args& a, const AttentionHead<T>& head,
                           int64_t row, int64_t key, const R& ends, S& s,
                           S& g) {
  using V = Wide<T>;
#pragma unroll
  for (int i = 0; i < S::kOwnRows; ++i) {
    const int r = S::row(t, i);
#pragma unroll
    for (int j = 0; j < S::kOwnColumns; ++j) {
      V& p = s.value(i, j);
      p = exp(score<T, kMask, 6>(a, head, row + r, key + S::column(t, j), p) -
              ends.lse[r]);
      g.value(i, j) = p * (g.value(i, j) - ends.delta[r]);
    }
  }
}

// Writes a tile as a factor, transposed if kTurned.
template <bool kTurned, typename S, typename F>
inline void put_factor(int t, S& s, F& to) {
#pragma unroll
  for (int i = 0; i < S::kOwnRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kOwnColumns; ++j) {
      const int r = S::row(t, i);
      const int c = S::column(t, j);
      to.at(kTurned ? c : r, kTurned ? r : c) =
          gt::to<typename F::type>(s.value(i, j));
    }
  }
}

// Computes gq; a block computes kTile of its rows.
template <typename T, int kMask, int kWide>
inline void attention_grad_rows(const Args& a) {
  using V = Wide<T>;
  using S = Sums<T, kTile<T>>;
  using O = Sums<T, kWide * kTile<T>>;
  constexpr int kRows = kTile<T>;
  GT_SHARED Factor<T, kRows, kSlice<T>> left;
  GT_SHARED Factor<T, kWide * kRows, kSlice<T>> right;
  GT_SHARED Factor<T, kRows, kRows> p;
  GT_SHARED RowEnds<V, kRows> ends;
  GT_BLOCKS(b, a.n[kBlockCount]) {
    const AttentionBlock at(a, b, true);
    const AttentionHead<T> head(a, at);
    const Matrix<T> go = gradient_of_o<T>(a, at);
    const int64_t row = at.tile * kRows;
    const int64_t column = at.chunk * kWide * kRows;
    Own<S> s, g;
    Own<O> gq;
    GT_PHASE(t) {
      gq.of(t) = O{};
      load_ends(t, a, at.unit, row, ends);
    }
    const int64_t end = seen_columns(a, row + kRows);
    for (int64_t key = 0; key < end; key += kRows) {
      multiply_rows(s, left, right, head.q.from(row, 0), head.k.from(key, 0));
      multiply_rows(g, left, right, go.from(row, 0), head.v.from(key, 0));
      GT_PHASE(t) {
        take_gradients<T, kMask>(t, a, head, row, key, ends, s.of(t), g.of(t));
        put_factor<false>(t, g.of(t), p);
      }
      multiply_columns(gq, p, right, head.k.from(key, column));
    }
    GT_PHASE(t) {
      const int64_t stride = a.n[kHeads] * a.n[kHeadDepth];
      const Matrix<T> like = {nullptr, stride, a.n[kQueries] - row,
                              a.n[kHeadDepth] - column};
      store_sums(t, gq.of(t),
                 out<T>(a, 0) + at.at(a, a.n[kQueries], a.n[kHeadDepth]) +
                     row * stride + column,
                 like, [&](int) { return head.scale; });
    }
  }
}

// Computes gk and gv; a block computes kTile of their rows.
template <typename T, int kMask, int kWide>
inline void attention_grad_columns(const Args& a) {
  using V = Wide<T>;
  using S = Sums<T, kTile<T>>;
  using O = Sums<T, kWide * kTile<T>>;
  constexpr int kRows = kTile<T>;
  GT_SHARED Factor<T, kRows, kSlice<T>> left;
  GT_SHARED Factor<T, kWide * kRows, kSlice<T>> right;
  GT_SHARED Factor<T, kRows, kRows> p;
  GT_SHARED RowEnds<V, kRows> ends;
  GT_BLOCKS(b, a.n[kBlockCount]) {
    const AttentionBlock at(a, b, false);
    const AttentionHead<T> head(a, at);
    const Matrix<T> go = gradient_of_o<T>(a, at);
    const int64_t key = at.tile * kRows;
    const int64_t column = at.chunk * kWide * kRows;
    Own<S> s, g;
    Own<O> gk, gv;
    GT_PHASE(t) {
      gk.of(t) = O{};
      gv.of(t) = O{};
    }
    // Rows that see none of this tile's columns are left out.
    const int64_t unseen =
        a.n[kCausal] != 0 && key > a.n[kFirst] ? key - a.n[kFirst] : 0;
    for (int64_t row = unseen / kRows * kRows; row < a.n[kQueries];
         row += kRows) {
      GT_PHASE(t) { load_ends(t, a, at.unit, row, ends); }
      multiply_rows(s, left, right, head.q.from(row, 0), head.k.from(key, 0));
      multiply_rows(g, left, right, go.from(row, 0), head.v.from(key, 0));
      GT_PHASE(t) {
        take_gradients<T, kMask>(t, a, head, row, key, ends, s.of(t), g.of(t));
        put_factor<true>(t, s.of(t), p);
      }
      multiply_columns(gv, p, right, go.from(row, column));
      GT_PHASE(t) { put_factor<true>(t, g.of(t), p); }
      multiply_columns(gk, p, right, head.q.from(row, column));
    }
    const auto store = [&](int t, O& sums, int k, int64_t size, V by) {
      const int64_t stride = a.n[kHeads] * size;
      const Matrix<T> like = {nullptr, stride, a.n[kKeys] - key, size - column};
      store_sums(
          t, sums,
          out<T>(a, k) + at.at(a, a.n[kKeys], size) + key * stride + column,
          like, [&](int) { return by; });
    };
    GT_PHASE(t) {
      store(t, gk.of(t), 0, a.n[kHeadDepth], head.scale);
      store(t, gv.of(t), 1, a.n[kHeadWidth], V(1));
    }
  }
}

}  // namespace gt
