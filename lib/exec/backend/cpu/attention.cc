// Attention and its gradient, a block of queries at a time: memory grows with
// the number of tokens, not with its square. f16 and bf16 are computed in f32.
// Which worker computes a block does not change any bit (attention_loops.h).
#include <array>
#include <vector>

#include "exec/backend/cpu/attention_blocks.h"
#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"

namespace gt::exec::cpu {
namespace {

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
    const AttentionLayout& l = blocks_.layout();
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
          // The longest rows of causal attention come first.
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
  AttentionBlocks<T> blocks_;
  std::vector<Converted> operands_;
  Returned o_;
  int64_t workers_ = 1;
  WorkerScratch<T> scratch_;
};

// gq gk gv = attention_grad q k v o lse go [glse]. A head is a unit of work. If
// there are more threads than heads, the units are blocks of keys, and then
// blocks of queries, at the price of computing the scores twice. Both ways sum
// in the same order.
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
    const AttentionLayout& l = layout();
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
  const AttentionLayout& layout() const { return blocks_.layout(); }

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

  // Computes gk and gv of the keys [begin, end) from all queries and, if
  // with_queries, gq.
  void with_keys(int64_t unit, int64_t worker, int64_t begin, int64_t end,
                 bool with_queries) {
    const AttentionLayout& l = layout();
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

  // Returns a block that computes gq alone.
  AttentionGradBlock<T> block(int64_t unit, int64_t index, int64_t worker) {
    AttentionGradBlock<T> b{};
    b.forward = blocks_.block(unit, index, x_[0], x_[1], x_[2]);
    b.forward.scratch = scratch_.of(worker);
    // These are only read.
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
  AttentionBlocks<T> blocks_;
  std::vector<Converted> operands_;
  std::vector<Returned> results_;
  bool by_head_ = true;
  bool direct_ = true;  // rows of gk and gv are whole packs
  int64_t k_row_ = 0, v_row_ = 0;
  int64_t workers_ = 1;
  // The elements of scratch memory before those for gk and gv.
  int64_t own_ = 0;
  WorkerScratch<T> scratch_;
  std::array<const T*, 7> x_{};
  std::array<T*, 3> y_{};
};

constexpr KernelRow kAttentionKernels[] = {
    {"attention", make_wide<AttentionKernel>},
    {"attention_grad", make_wide<AttentionGradKernel>},
};

}  // namespace

std::span<const KernelRow> attention_kernels() { return kAttentionKernels; }

}  // namespace gt::exec::cpu
