// Ops that move elements: views are copied in runs or tiles, pieces by rows.
#include <cstring>
#include <string>
#include <vector>

#include "exec/cpu/copy.h"
#include "exec/cpu/cpu.h"
#include "exec/cpu/parallel.h"
#include "exec/element.h"

namespace gt::cpu {
namespace {

// transpose, expand, slice, flip.
class Viewed final : public Kernel {
 public:
  Viewed(const Call& call, const Context& context)
      : view_(view_of(call)),
        size_(size_of(call.type(0).dtype)),
        copy_(view_, size_, context.threads) {
    if (view_.starts) start_ = call.type(1).dtype;
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    int64_t offset = view_.offset;
    if (view_.starts) {
      const auto at = offset_of(view_, load_int(start_, in[1], 0));
      if (!at.ok()) return at.error();
      offset = at.value();
    }
    copy_.run(static_cast<const char*>(in[0]) + offset * size_, out[0]);
    return ok_status();
  }

 private:
  View view_;
  size_t size_;
  StridedCopy copy_;
  Dtype start_ = Dtype::kI64;
};

// Operands of one dtype one after another along an axis: rows before the axis
// take turns.
class Concat final : public Kernel {
 public:
  Concat(const Call& call, const Context& /*context*/) {
    const Type& to = call.results[0];
    const size_t axis = single_axis(call, 0);
    for (size_t d = 0; d < axis; ++d) rows_ *= to.shape[d];
    for (const Argument& a : call.arguments) {
      pieces_.push_back(rows_ == 0 ? 0 : a.type.bytes() / rows_);
      row_ += pieces_.back();
    }
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    char* to = static_cast<char*>(out[0]);
    for (size_t k = 0; k < pieces_.size(); ++k) {
      const auto* from = static_cast<const char*>(in[k]);
      for (size_t r = 0; r < rows_ && pieces_[k] > 0; ++r) {
        std::memcpy(to + r * row_, from + r * pieces_[k], pieces_[k]);
      }
      to += pieces_[k];
    }
    return ok_status();
  }

 private:
  size_t rows_ = 1;
  size_t row_ = 0;
  std::vector<size_t> pieces_;  // bytes of each operand's row
};

std::unique_ptr<Kernel> cpu_concat(const Call& call, const Context& context) {
  for (const Argument& a : call.arguments) {
    if (a.type.dtype != call.results[0].dtype) return nullptr;
  }
  return std::make_unique<Concat>(call, context);
}

Error out_of_range(int64_t index, int64_t rows) {
  return Error{"index " + std::to_string(index) + " is out of range for " +
               std::to_string(rows) + " row" + (rows == 1 ? "" : "s")};
}

// embedding: y[..,d] = table[ids[..],d].
class Embedding final : public Kernel {
 public:
  Embedding(const Call& call, const Context& context)
      : ids_(call.type(1)),
        n_(ids_.elements()),
        rows_(call.type(0).shape[0]),
        bytes_(rows_ == 0 ? 0 : call.type(0).bytes() / rows_),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* table = static_cast<const char*>(in[0]);
    auto* to = static_cast<char*>(out[0]);
    for (int64_t i = 0; i < n_; ++i) {
      const int64_t row = load_int(ids_.dtype, in[1], i);
      if (row < 0 || row >= rows_) return out_of_range(row, rows_);
    }
    const int64_t least = kWorthAThread / static_cast<int64_t>(bytes_ + 8);
    in_parallel(threads_, n_, least, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = load_int(ids_.dtype, in[1], i);
        std::memcpy(to + i * bytes_, table + row * bytes_, bytes_);
      }
    });
    return ok_status();
  }

 private:
  Type ids_;
  int64_t n_, rows_;
  size_t bytes_;
  int threads_;
};

// embedding_grad: dtable = 0, then dtable[ids[..],d] += dy[..,d], in the order
// of the ids. Threads share the columns, so the order holds for any number.
template <typename T>
class EmbeddingGrad final : public Kernel {
 public:
  EmbeddingGrad(const Call& call, const Context& context)
      : add_(loops_for<T>(context).add_to),
        ids_(call.type(1)),
        to_(call.results[0]),
        width_(to_.shape.back()),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const int64_t rows = to_.shape[0];
    const int64_t n = ids_.elements();
    index_.resize(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = load_int(ids_.dtype, in[1], i);
      if (row < 0 || row >= rows) return out_of_range(row, rows);
      index_[static_cast<size_t>(i)] = row;
    }
    std::memset(out[0], 0, to_.bytes());
    const auto* dy = static_cast<const T*>(in[0]);
    auto* y = static_cast<T*>(out[0]);
    const int64_t least = kWorthAThread / (8 * std::max<int64_t>(n, 1));
    in_parallel(threads_, width_, std::max<int64_t>(least, 64),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = 0; i < n; ++i) {
                    add_(y + index_[static_cast<size_t>(i)] * width_ + begin,
                         dy + i * width_ + begin, end - begin);
                  }
                });
    return ok_status();
  }

 private:
  void (*add_)(T*, const T*, int64_t);
  Type ids_, to_;
  int64_t width_;
  int threads_;
  std::vector<int64_t> index_;
};

std::unique_ptr<Kernel> cpu_embedding_grad(const Call& call,
                                           const Context& context) {
  const Dtype dtype = call.results[0].dtype;
  if (call.type(0).dtype != dtype) return nullptr;
  if (dtype == Dtype::kF32) return make<EmbeddingGrad<float>>(call, context);
  if (dtype == Dtype::kF64) return make<EmbeddingGrad<double>>(call, context);
  return nullptr;
}

constexpr KernelRow kRows[] = {
    {"transpose", make<Viewed>},
    {"expand", make<Viewed>},
    {"slice", make<Viewed>},
    {"flip", make<Viewed>},
    {"concat", cpu_concat},
    {"embedding", make<Embedding>},
    {"embedding_grad", cpu_embedding_grad},
};

}  // namespace

std::span<const KernelRow> layout_kernels() { return kRows; }

}  // namespace gt::cpu
