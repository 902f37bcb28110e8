// Where the blocks of an attention lie in its operands and results; for
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

// Where heads and rows lie: heads of a row side by side.
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
  // Element of the first row of unit u in a tensor of n rows of heads * size.
  int64_t at(int64_t u, int64_t n, int64_t size) const {
    return at(u / heads, u, n, size);
  }
  // The same where the lead is numbered otherwise.
  int64_t at(int64_t lead, int64_t u, int64_t n, int64_t size) const {
    if (n == 0) return 0;  // nothing is there, perhaps no memory either
    return (lead * n * heads + u % heads) * size;
  }

  int64_t leads, heads, rows, columns, depth, width;
};

// Which of an operand's own leading positions each of the lead's is, where
// `group` neighbours in its last one share one of the operand's.
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

// The mask as what is added to the scores, and where the rows and columns of
// each unit begin in it.
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

// What both directions read.
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
  // About the cycles that a block of queries takes, in bytes as parallel.h
  // counts; `products` of queries, keys and depth.
  int64_t cost(int64_t products) const {
    return products * kAttentionQueries * layout_.columns *
           (layout_.depth + layout_.width) / 64;
  }

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
  // Of a block in gq, in o, in lse.
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
  // Element of the first row of the unit's head in k or v.
  int64_t key_at(int64_t lead, int64_t unit, int64_t size) const {
    const AttentionLayout& l = layout_;
    if (l.columns == 0) return 0;  // nothing is there, perhaps no memory either
    return (lead * l.columns * (l.heads / group_) + unit % l.heads / group_) *
           size;
  }

  AttentionLayout layout_;
  AttentionMask<T> mask_;
  int64_t group_ = 1;  // heads of q in the last dimension that share one of k
  std::array<std::vector<int64_t>, 3> leads_;
  bool causal_;
  int64_t first_;
  double scale_;
};

}  // namespace gt::exec::cpu
