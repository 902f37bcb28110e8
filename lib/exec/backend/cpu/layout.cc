// Ops that move elements: views are copied in runs or tiles, and concat and
// pad copy whole rows.
#include <cstring>
#include <string>
#include <vector>

#include "exec/backend/cpu/copy.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/element.h"
#include "ops/shape_rules.h"

namespace gt::exec::cpu {
namespace {

// The kernel of transpose, expand, slice, flip and windows.
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

// Copies operands of one dtype one after another along an axis. For each
// operand it copies one piece into each row of the dimensions before the axis.
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
  // For each operand, the bytes of its piece of a row.
  std::vector<size_t> pieces_;
};

std::unique_ptr<Kernel> cpu_concat(const Call& call, const Context& context) {
  for (const Argument& a : call.arguments) {
    if (a.type.dtype != call.results[0].dtype) return nullptr;
  }
  return std::make_unique<Concat>(call, context);
}

// Copies x with a margin of one value, or cropped.
template <typename T>
class Pad final : public Kernel {
 public:
  Pad(const Call& call, const Context& context)
      : to_(call.results[0]),
        kept_(call.type(0).shape),
        threads_(context.threads) {
    const Number value = *parse_number(call.key("value"));
    if (value.kind == Number::Kind::kFloat) {
      store_real(to_.dtype, &value_, 0, value.real);
    } else {
      store_int(to_.dtype, &value_, 0, value.integer);
    }
    Strides from = strides_of(kept_);
    const Strides into = strides_of(to_.shape);
    const std::vector<int64_t> width = call.integers("width");
    for (size_t d = 0; d < kept_.size(); ++d) {
      const int64_t before = width[2 * d];
      kept_[d] +=
          std::min<int64_t>(before, 0) + std::min<int64_t>(width[2 * d + 1], 0);
      from_ -= std::min<int64_t>(before, 0) * from[d];
      into_ += std::max<int64_t>(before, 0) * into[d];
    }
    if (!kept_.empty()) row_ = kept_.back();
    for (size_t d = 0; d + 1 < kept_.size(); ++d) outer_.push_back(kept_[d]);
    strides_ = {from, into};
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* x = static_cast<const T*>(in[0]) + from_;
    auto* y = static_cast<T*>(out[0]);
    const int64_t all = to_.elements();
    if (kept_.elements() == 0) {
      std::fill_n(y, all, value_);
      return ok_status();
    }
    // A row is written together with the margin before it, the last one also
    // with that behind it.
    const int64_t rows = outer_.elements();
    const int64_t least = kWorthAThread / static_cast<int64_t>(sizeof(T));
    in_parallel(threads_, rows, least / (all / rows) + 1,
                [&](int64_t begin, int64_t end) {
                  Walk<2> walk(outer_, strides_);
                  int64_t done = 0;
                  if (begin > 0) {
                    walk.seek(begin - 1);
                    done = into_ + walk[1] + row_;
                  }
                  walk.seek(begin);
                  for (int64_t r = begin; r < end; ++r, walk.next()) {
                    T* to = y + into_ + walk[1];
                    std::fill(y + done, to, value_);
                    std::copy_n(x + walk[0], row_, to);
                    done = to + row_ - y;
                  }
                  if (end == rows) std::fill(y + done, y + all, value_);
                });
    return ok_status();
  }

 private:
  Type to_;
  Shape kept_, outer_;
  std::array<Strides, 2> strides_;
  int64_t row_ = 1;
  T value_{};
  int64_t from_ = 0, into_ = 0;
  int threads_;
};

// Sums the elements that each place has in all windows along an axis, in the
// order of the windows.
template <typename T>
class WindowsGrad final : public Kernel {
 public:
  WindowsGrad(const Call& call, const Context& context)
      : stride_(call.integer("stride")),
        dilation_(call.integer("dilation")),
        threads_(context.threads) {
    const Shape& from = call.type(0).shape;
    const Shape& to = call.results[0].shape;
    const auto axis = static_cast<size_t>(one_axis(call, 0, to.size()).value());
    for (size_t d = 0; d < axis; ++d) outer_ *= to[d];
    for (size_t d = axis + 1; d < to.size(); ++d) inner_ *= to[d];
    rows_ = to[axis];
    windows_ = from[axis];
    kernel_ = from.back();
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* g = static_cast<const T*>(in[0]);
    auto* z = static_cast<T*>(out[0]);
    const int64_t taken = windows_ * inner_ * kernel_;
    each_in_parallel(threads_, outer_, taken, [&](int64_t o) {
      one(g + o * taken, z + o * rows_ * inner_);
    });
    return ok_status();
  }

 private:
  void one(const T* g, T* z) const {
    std::fill_n(z, rows_ * inner_, T{0});
    for (int64_t w = 0; w < windows_; ++w) {
      for (int64_t i = 0; i < inner_; ++i) {
        T* to = z + w * stride_ * inner_ + i;
        for (int64_t k = 0; k < kernel_; ++k) {
          to[k * dilation_ * inner_] += *g++;
        }
      }
    }
  }

  int64_t stride_, dilation_;
  int64_t outer_ = 1, inner_ = 1, rows_ = 1, windows_ = 0, kernel_ = 0;
  int threads_;
};

constexpr KernelRow kLayoutKernels[] = {
    {"transpose", make<Viewed>}, {"expand", make<Viewed>},
    {"slice", make<Viewed>},     {"flip", make<Viewed>},
    {"windows", make<Viewed>},   {"windows_grad", make_float<WindowsGrad>},
    {"concat", cpu_concat},      {"pad", make_by_size<Pad>},
};

}  // namespace

std::span<const KernelRow> layout_kernels() { return kLayoutKernels; }

}  // namespace gt::exec::cpu
