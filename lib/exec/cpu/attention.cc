// attention and its gradient, a block of queries at a time: memory grows with
// the tokens, not with their square. f16 and bf16 by way of f32. Which worker
// computes a block shows in no bit (attention_loops.h).
#include "ops/attention.h"

#include <array>
#include <limits>
#include <vector>

#include "exec/cpu/convert.h"
#include "exec/cpu/cpu.h"
#include "exec/cpu/parallel.h"
#include "exec/view.h"
#include "ops/shape_rules.h"

namespace gt::cpu {
namespace {

// Memory for each worker, aligned for packs.
template <typename T>
class Scratch {
 public:
  void reserve(int64_t workers, int64_t elements) {
    constexpr int64_t kLine = 64 / sizeof(T);
    each_ = (elements + kLine - 1) / kLine * kLine;
    data_.resize(static_cast<size_t>(workers * each_ + kLine));
  }
  T* of(int64_t worker) {
    const auto at = reinterpret_cast<uintptr_t>(data_.data());
    return data_.data() + (64 - at % 64) % 64 / sizeof(T) + worker * each_;
  }

 private:
  int64_t each_ = 0;
  std::vector<T> data_;
};

// Where heads and rows lie: heads of a row side by side.
struct Layout {
  explicit Layout(const Attention& a)
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
std::vector<int64_t> own_leads(const Shape& shape, const Shape& lead,
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
class Mask {
 public:
  Mask(const Call& call, const Attention& a, const Loops& loops) {
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
class Blocks {
 public:
  Blocks(const Call& call, const Attention& a, const Loops& loops)
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

  const Layout& layout() const { return layout_; }
  // About the cycles that a block of queries takes, in bytes as parallel.h
  // counts; `products` of queries, keys and depth.
  int64_t cost(int64_t products) const {
    return products * kAttentionQueries * layout_.columns *
           (layout_.depth + layout_.width) / 64;
  }

  AttentionBlock<T> block(int64_t unit, int64_t index, const T* q, const T* k,
                          const T* v) const {
    const Layout& l = layout_;
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
    const Layout& l = layout_;
    return l.at(unit, l.rows, l.depth) +
           index * kAttentionQueries * l.heads * l.depth;
  }
  int64_t o_at(int64_t unit, int64_t index) const {
    const Layout& l = layout_;
    return l.at(unit, l.rows, l.width) +
           index * kAttentionQueries * l.heads * l.width;
  }
  int64_t lse_at(int64_t unit, int64_t index) const {
    return unit * layout_.rows + index * kAttentionQueries;
  }

 private:
  // Element of the first row of the unit's head in k or v.
  int64_t key_at(int64_t lead, int64_t unit, int64_t size) const {
    const Layout& l = layout_;
    if (l.columns == 0) return 0;  // nothing is there, perhaps no memory either
    return (lead * l.columns * (l.heads / group_) + unit % l.heads / group_) *
           size;
  }

  Layout layout_;
  Mask<T> mask_;
  int64_t group_ = 1;  // heads of q in the last dimension that share one of k
  std::array<std::vector<int64_t>, 3> leads_;
  bool causal_;
  int64_t first_;
  double scale_;
};

// o [lse] = attention q k v
template <typename T>
class AttentionKernel final : public Kernel {
 public:
  AttentionKernel(const Call& call, const Context& context)
      : loop_(loops_for<T>(context).attention),
        blocks_(call, attention_of(call).value(), *context.loops),
        o_(call.results[0], dtype_of<T>(), *context.loops) {
    for (size_t i = 0; i < 3; ++i) {
      operands_.emplace_back(call.type(i), dtype_of<T>(), *context.loops);
    }
    const Layout& l = blocks_.layout();
    workers_ =
        workers_for(context.threads, l.units() * l.blocks(), blocks_.cost(1));
    scratch_.reserve(workers_, attention_scratch(l.depth, l.width));
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const T* x[3];
    for (size_t i = 0; i < 3; ++i) {
      x[i] = static_cast<const T*>(operands_[i].get(in[i]));
    }
    blocks_.read_mask(in);
    T* o = static_cast<T*>(o_.place(out[0]));
    T* lse = out.size() > 1 ? static_cast<T*>(out[1]) : nullptr;
    const int64_t count = blocks_.layout().blocks();
    shared_by_workers(
        workers_, blocks_.layout().units() * count, [&](int64_t i, int64_t w) {
          // The longest rows of a causal one first.
          const int64_t unit = i / count;
          const int64_t index = count - 1 - i % count;
          AttentionBlock<T> b = blocks_.block(unit, index, x[0], x[1], x[2]);
          b.o = o + blocks_.o_at(unit, index);
          if (lse != nullptr) b.lse = lse + blocks_.lse_at(unit, index);
          b.scratch = scratch_.of(w);
          loop_(b);
        });
    o_.store(out[0]);
    return ok_status();
  }

 private:
  decltype(FloatLoops<T>::attention) loop_;
  Blocks<T> blocks_;
  std::vector<Converted> operands_;
  Returned o_;
  int64_t workers_ = 1;
  Scratch<T> scratch_;
};

// gq gk gv = attention_grad q k v o lse go [glse]. A head is a unit of work;
// where there are more workers than heads, blocks of keys are, and then blocks
// of queries, at the price of making the scores twice. Both add up in the same
// order.
template <typename T>
class AttentionGradKernel final : public Kernel {
 public:
  AttentionGradKernel(const Call& call, const Context& context)
      : loop_(loops_for<T>(context).attention_grad),
        blocks_(call, attention_of(call).value(), *context.loops) {
    for (size_t i = 0; i < 7; ++i) {
      if (i == 6 && (call.arguments.size() < 7 || !call.given(6))) break;
      operands_.emplace_back(call.type(i), dtype_of<T>(), *context.loops);
    }
    for (const Type& type : call.results) {
      results_.emplace_back(type, dtype_of<T>(), *context.loops);
    }
    const Layout& l = layout();
    by_head_ = l.units() >= context.threads;
    constexpr int64_t kLanes = 64 / sizeof(T);
    direct_ = l.depth % kLanes == 0 && l.width % kLanes == 0;
    k_row_ = (l.depth + kLanes - 1) / kLanes * kLanes;
    v_row_ = (l.width + kLanes - 1) / kLanes * kLanes;
    workers_ =
        workers_for(context.threads, l.units() * l.blocks(), blocks_.cost(5));
    const int64_t keys = by_head_ ? l.columns : kAttentionKeys;
    own_ = attention_grad_scratch(l.depth, l.width);
    scratch_.reserve(workers_, own_ + (direct_ ? 0 : keys * (k_row_ + v_row_)));
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    for (size_t i = 0; i < operands_.size(); ++i) {
      x_[i] = static_cast<const T*>(operands_[i].get(in[i]));
    }
    blocks_.read_mask(in);
    for (size_t r = 0; r < 3; ++r) {
      y_[r] = static_cast<T*>(results_[r].place(out[r]));
    }
    const int64_t units = layout().units();
    const int64_t keys = layout().columns;
    if (by_head_) {
      shared_by_workers(workers_, units, [&](int64_t u, int64_t w) {
        with_keys(u, w, 0, keys, true);
      });
    } else {
      by_blocks(units, keys);
    }
    for (size_t r = 0; r < 3; ++r) results_[r].store(out[r]);
    return ok_status();
  }

 private:
  const Layout& layout() const { return blocks_.layout(); }

  void by_blocks(int64_t units, int64_t keys) {
    const int64_t key_blocks = layout().key_blocks();
    shared_by_workers(workers_, units * key_blocks, [&](int64_t i, int64_t w) {
      const int64_t begin = i % key_blocks * kAttentionKeys;
      with_keys(i / key_blocks, w, begin,
                std::min(keys, begin + kAttentionKeys), false);
    });
    const int64_t blocks = layout().blocks();
    shared_by_workers(workers_, units * blocks, [&](int64_t i, int64_t w) {
      AttentionGradBlock<T> b = block(i / blocks, i % blocks, w);
      b.end = keys;
      loop_(b);
    });
  }

  // gk and gv of keys [begin, end), by all queries; and gq.
  void with_keys(int64_t unit, int64_t worker, int64_t begin, int64_t end,
                 bool with_queries) {
    const Layout& l = layout();
    T* own = scratch_.of(worker) + own_;
    const int64_t k_row = direct_ ? l.heads * l.depth : k_row_;
    const int64_t v_row = direct_ ? l.heads * l.width : v_row_;
    T* gk = y_[1] + l.at(unit, l.columns, l.depth) + begin * l.heads * l.depth;
    T* gv = y_[2] + l.at(unit, l.columns, l.width) + begin * l.heads * l.width;
    T* k = direct_ ? gk : own;
    T* v = direct_ ? gv : own + (end - begin) * k_row_;
    for (int64_t r = 0; r < end - begin; ++r) {
      std::fill_n(k + r * k_row, direct_ ? l.depth : k_row, T{0});
      std::fill_n(v + r * v_row, direct_ ? l.width : v_row, T{0});
    }
    for (int64_t i = 0; i < l.blocks(); ++i) {
      AttentionGradBlock<T> b = block(unit, i, worker);
      if (!with_queries) b.gq = nullptr;
      b.begin = begin;
      b.end = end;
      b.gk = k;
      b.gv = v;
      b.gk_row = k_row;
      b.gv_row = v_row;
      loop_(b);
    }
    if (direct_) return;
    for (int64_t r = 0; r < end - begin; ++r) {
      std::copy_n(k + r * k_row, l.depth, gk + r * l.heads * l.depth);
      std::copy_n(v + r * v_row, l.width, gv + r * l.heads * l.width);
    }
  }

  // A block that makes gq alone.
  AttentionGradBlock<T> block(int64_t unit, int64_t index, int64_t worker) {
    AttentionGradBlock<T> b{};
    b.forward = blocks_.block(unit, index, x_[0], x_[1], x_[2]);
    b.forward.scratch = scratch_.of(worker);
    // Only read.
    b.forward.o = const_cast<T*>(x_[3]) + blocks_.o_at(unit, index);
    b.forward.lse = const_cast<T*>(x_[4]) + blocks_.lse_at(unit, index);
    b.go = x_[5] + blocks_.o_at(unit, index);
    b.go_row = b.forward.o_row;
    if (x_[6] != nullptr) b.glse = x_[6] + blocks_.lse_at(unit, index);
    b.gq = y_[0] + blocks_.gq_at(unit, index);
    b.gq_row = b.forward.q_row;
    return b;
  }

  decltype(FloatLoops<T>::attention_grad) loop_;
  Blocks<T> blocks_;
  std::vector<Converted> operands_;
  std::vector<Returned> results_;
  bool by_head_ = true;
  bool direct_ = true;  // gk and gv are whole packs wide
  int64_t k_row_ = 0, v_row_ = 0;
  int64_t workers_ = 1;
  int64_t own_ = 0;  // elements of scratch before gk's and gv's
  Scratch<T> scratch_;
  std::array<const T*, 7> x_{};
  std::array<T*, 3> y_{};
};

template <template <typename> class K>
std::unique_ptr<Kernel> make_attention(const Call& call,
                                       const Context& context) {
  if (call.type(0).dtype == Dtype::kF64) return make<K<double>>(call, context);
  return make<K<float>>(call, context);
}

constexpr KernelRow kRows[] = {
    {"attention", make_attention<AttentionKernel>},
    {"attention_grad", make_attention<AttentionGradKernel>},
};

}  // namespace

std::span<const KernelRow> attention_kernels() { return kRows; }

}  // namespace gt::cpu
