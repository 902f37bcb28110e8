// The places of an attention's blocks in its operands and results; used by
// attention.cc.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/view.h"
#include "ops/attention.h"
#include "ops/shape_rules.h"

namespace gt::exec::cpu {

// The layout of heads and rows: the heads of a row lie side by side.
struct AttentionLayout {
  explicit AttentionLayout(const Attention& a)
      : leads(a.lead.elements()),
        heads(a.heads),
        rows(a.rows),
        columns(a.columns),
        depth(a.depth),
        width(a.width) {}

  int64_t units() const { return leads * heads; }
  int64_t blocks() const {
    return (rows + kAttentionQueries - 1) / kAttentionQueries;
  }
  int64_t key_blocks() const {
    return (columns + kAttentionKeys - 1) / kAttentionKeys;
  }
  // Returns the index of the first element of unit u in a tensor of n rows of
  // heads * size elements.
  int64_t at(int64_t u, int64_t n, int64_t size) const {
    return at(u / heads, u, n, size);
  }
  // Does the same for a unit whose lead has another number in this tensor.
  int64_t at(int64_t lead, int64_t u, int64_t n, int64_t size) const {
    if (n == 0) return 0;  // the tensor is empty and may have no memory
    return (lead * n * heads + u % heads) * size;
  }

  int64_t leads, heads, rows, columns, depth, width;
};

// Returns, for each leading position of the result, the leading position of an
// operand that it reads; `group` neighbours in the last leading dimension share
// one.
inline std::vector<int64_t> own_leads(const Shape& shape, const Shape& lead,
                                      int64_t group) {
  Shape own(std::span<const int64_t>(shape.begin(), shape.size() - 2));
  if (!own.empty()) own[own.size() - 1] *= group;
  Walk<1> walk(lead, {broadcast_strides(own, lead)});
  std::vector<int64_t> leads(static_cast<size_t>(lead.elements()));
  for (int64_t& i : leads) {
    i = walk[0] / group;
    walk.next();
  }
  return leads;
}

// The mask as numbers that are added to the scores, and where the rows and
// columns of each unit begin in it.
template <typename T>
class AttentionMask {
 public:
  AttentionMask(const Call& call, const Attention& a, const Loops& loops) {
    const size_t i = operand_named(call, "mask");
    if (i >= call.arguments.size() || !call.given(i)) return;
    operand_ = static_cast<int64_t>(i);
    const Type& type = call.type(i);
    is_bool_ = type.dtype == Dtype::kBool;
    if (is_bool_) {
      added_.resize(static_cast<size_t>(type.elements()));
    } else {
      converted_.emplace_back(type, dtype_of<T>(), loops);
    }
    Shape units = a.lead;
    if (call.has_key("heads")) units.push_back(a.heads);
    Shape scores = units;
    scores.push_back(a.rows);
    scores.push_back(a.columns);
    const Strides strides = broadcast_strides(type.shape, scores);
    row_ = strides[units.size()];
    column_ = strides[units.size() + 1];
    Walk<1> walk(units, {strides});
    begin_.resize(static_cast<size_t>(units.elements()));
    for (int64_t& at : begin_) {
      at = walk[0];
      walk.next();
    }
  }

  // Reads the mask operand; to be called in each run.
  void read(std::span<const void* const> in) {
    if (operand_ < 0) return;
    const void* data = in[static_cast<size_t>(operand_)];
    if (!is_bool_) {
      data_ = static_cast<const T*>(converted_[0].get(data));
      return;
    }
    const auto* sees = static_cast<const uint8_t*>(data);
    for (size_t i = 0; i < added_.size(); ++i) {
      added_[i] = sees[i] != 0 ? T{0} : -std::numeric_limits<T>::infinity();
    }
    data_ = added_.data();
  }

  // Sets the mask of a block that begins at `row` of `unit`.
  void place(int64_t unit, int64_t row, AttentionBlock<T>& x) const {
    if (operand_ < 0) return;
    x.mask = data_ + begin_[static_cast<size_t>(unit)] + row * row_;
    x.mask_row = row_;
    x.mask_column = column_;
  }

 private:
  int64_t operand_ = -1;
  bool is_bool_ = false;
  int64_t row_ = 0, column_ = 0;
  std::vector<int64_t> begin_;
  std::vector<T> added_;
  std::vector<Converted> converted_;
  const T* data_ = nullptr;
};

// What attention and its gradient have in common: layout, mask and operands'
// places.
template <typename T>
class AttentionBlocks {
 public:
  AttentionBlocks(const Call& call, const Attention& a, const Loops& loops)
      : layout_(a),
        mask_(call, a, loops),
        causal_(a.causal),
        first_(a.first),
        scale_(a.scale) {
    const bool has_heads = call.has_key("heads");
    for (size_t i = 0; i < 3; ++i) {
      leads_[i] = own_leads(call.type(i).shape, a.lead,
                            i == 0 || has_heads ? 1 : a.group);
    }
    if (has_heads) group_ = a.group;
  }

  void read_mask(std::span<const void* const> in) { mask_.read(in); }

  const AttentionLayout& layout() const { return layout_; }
  // Returns about how many cycles a block of queries takes, in bytes as
  // parallel.h counts; `products` is the number of products of queries, keys
  // and depth.
  int64_t cost(int64_t products) const {
    return products * kAttentionQueries * layout_.columns *
           (layout_.depth + layout_.width) / 64;
  }

  // Returns block `index` of a unit, without results and scratch memory.
  AttentionBlock<T> block(int64_t unit, int64_t index, const T* q, const T* k,
                          const T* v) const {
    const AttentionLayout& l = layout_;
    const int64_t row = index * kAttentionQueries;
    AttentionBlock<T> x{};
    const int64_t kv_heads = l.heads / group_;
    x.q_row = l.heads * l.depth;
    x.o_row = l.heads * l.width;
    x.k_row = kv_heads * l.depth;
    x.v_row = kv_heads * l.width;
    const auto lead = [&](size_t i) {
      return leads_[i][static_cast<size_t>(unit / l.heads)];
    };
    x.q = q + l.at(lead(0), unit, l.rows, l.depth) + row * x.q_row;
    x.k = k + key_at(lead(1), unit, l.depth);
    x.v = v + key_at(lead(2), unit, l.width);
    x.queries = std::min(kAttentionQueries, l.rows - row);
    x.keys = l.columns;
    x.depth = l.depth;
    x.width = l.width;
    x.causal = causal_;
    x.first = first_ + row;
    x.scale = static_cast<T>(scale_);
    mask_.place(unit, row, x);
    return x;
  }
  // These return where a block begins in gq, in o and in lse.
  int64_t gq_at(int64_t unit, int64_t index) const {
    const AttentionLayout& l = layout_;
    return l.at(unit, l.rows, l.depth) +
           index * kAttentionQueries * l.heads * l.depth;
  }
  int64_t o_at(int64_t unit, int64_t index) const {
    const AttentionLayout& l = layout_;
    return l.at(unit, l.rows, l.width) +
           index * kAttentionQueries * l.heads * l.width;
  }
  int64_t lse_at(int64_t unit, int64_t index) const {
    return unit * layout_.rows + index * kAttentionQueries;
  }

 private:
  // Returns the index of the first element of the unit's head in k or v.
  int64_t key_at(int64_t lead, int64_t unit, int64_t size) const {
    const AttentionLayout& l = layout_;
    // The tensor is empty and may have no memory.
    if (l.columns == 0) return 0;
    return (lead * l.columns * (l.heads / group_) + unit % l.heads / group_) *
           size;
  }

  AttentionLayout layout_;
  AttentionMask<T> mask_;
  // The number of heads of q in the last dimension that share one of k.
  int64_t group_ = 1;
  std::array<std::vector<int64_t>, 3> leads_;
  bool causal_;
  int64_t first_;
  double scale_;
};

}  // namespace gt::exec::cpu
