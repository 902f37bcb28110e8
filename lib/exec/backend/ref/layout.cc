// Ops that move elements without computing anything.
#include <algorithm>
#include <cstring>
#include <vector>

#include "exec/backend/element.h"
#include "exec/backend/ref/ref.h"
#include "exec/backend/view.h"
#include "ops/shape_rules.h"

namespace gt::exec::ref {
namespace {

void move(void* to, int64_t i, const void* from, int64_t j, size_t size) {
  std::memcpy(static_cast<char*>(to) + i * static_cast<int64_t>(size),
              static_cast<const char*>(from) + j * static_cast<int64_t>(size),
              size);
}

// The kernel of transpose, expand, slice, flip and windows: a copy through
// strides.
class Gathered final : public Kernel {
 public:
  explicit Gathered(const Call& call)
      : view_(view_of(call)), size_(size_of(call.type(0).dtype)) {
    if (view_.starts) literal_ = call.arguments[1];
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    int64_t offset = view_.offset;
    if (view_.starts) {
      const int64_t start = literal_.role == Role::kNumber
                                ? literal_.number.integer
                                : load_int(literal_.type.dtype, in[1], 0);
      const Result<int64_t> at = offset_of(view_, start);
      if (!at.ok()) return at.error();
      offset = at.value();
    }
    Walk<1> walk(view_.shape, {view_.strides});
    const int64_t n = view_.shape.elements();
    for (int64_t i = 0; i < n; ++i, walk.next()) {
      move(out[0], i, in[0], offset + walk[0], size_);
    }
    return ok_status();
  }

 private:
  View view_;
  size_t size_;
  Argument literal_;
};

// Copies operands one after another along an axis.
class Concat final : public Kernel {
 public:
  explicit Concat(const Call& call)
      : size_(size_of(call.results[0].dtype)),
        strides_(strides_of(call.results[0].shape)),
        axis_(single_axis(call, 0)) {
    for (const Argument& a : call.arguments) types_.push_back(a.type);
    to_ = call.results[0].dtype;
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    int64_t offset = 0;
    for (size_t k = 0; k < types_.size(); ++k) {
      const Shape& shape = types_[k].shape;
      Walk<1> walk(shape, {strides_});
      const int64_t n = shape.elements();
      for (int64_t i = 0; i < n; ++i, walk.next()) {
        put(out[0], offset + walk[0], in[k], i, types_[k].dtype);
      }
      offset += shape[axis_] * strides_[axis_];
    }
    return ok_status();
  }

 private:
  void put(void* to, int64_t i, const void* from, int64_t j, Dtype dtype) {
    if (dtype == to_) {
      move(to, i, from, j, size_);
    } else if (is_float(dtype)) {
      store_real(to_, to, i, load_real(dtype, from, j));
    } else {
      store_int(to_, to, i, load_int(dtype, from, j));
    }
  }

  size_t size_;
  Strides strides_;
  size_t axis_;
  Dtype to_;
  std::vector<Type> types_;
};

// Fills the result with the border value, and then copies the part of x that is
// not cropped.
class Pad final : public Kernel {
 public:
  explicit Pad(const Call& call)
      : to_(call.results[0]),
        kept_(call.type(0).shape),
        from_strides_(strides_of(kept_)),
        to_strides_(strides_of(to_.shape)),
        value_(*parse_number(call.key("value"))) {
    const std::vector<int64_t> width = call.integers("width");
    for (size_t d = 0; d < kept_.size(); ++d) {
      const int64_t before = width[2 * d];
      const int64_t after = width[2 * d + 1];
      kept_[d] += std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
      from_ -= std::min<int64_t>(before, 0) * from_strides_[d];
      into_ += std::max<int64_t>(before, 0) * to_strides_[d];
    }
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    for (int64_t i = 0; i < to_.elements(); ++i) {
      if (value_.kind == Number::Kind::kFloat) {
        store_real(to_.dtype, out[0], i, value_.real);
      } else {
        store_int(to_.dtype, out[0], i, value_.integer);
      }
    }
    Walk<2> walk(kept_, {from_strides_, to_strides_});
    const int64_t n = kept_.elements();
    for (int64_t i = 0; i < n; ++i, walk.next()) {
      move(out[0], into_ + walk[1], in[0], from_ + walk[0], size_of(to_.dtype));
    }
    return ok_status();
  }

 private:
  Type to_;
  Shape kept_;
  Strides from_strides_, to_strides_;
  Number value_;
  int64_t from_ = 0;
  int64_t into_ = 0;
};

// Sums, in double, the elements that each place has in all windows along an
// axis.
class WindowsGrad final : public Kernel {
 public:
  explicit WindowsGrad(const Call& call)
      : from_(call.type(0)),
        to_(call.results[0]),
        strides_(strides_of(to_.shape)) {
    const auto axis =
        static_cast<size_t>(one_axis(call, 0, to_.shape.size()).value());
    const int64_t step = strides_[axis];
    strides_[axis] = step * call.integer("stride");
    strides_[from_.shape.size() - 1] = step * call.integer("dilation");
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    std::vector<double> sums(static_cast<size_t>(to_.elements()));
    Walk<1> walk(from_.shape, {strides_});
    const int64_t n = from_.elements();
    for (int64_t i = 0; i < n; ++i, walk.next()) {
      sums[static_cast<size_t>(walk[0])] += load_real(from_.dtype, in[0], i);
    }
    for (int64_t i = 0; i < to_.elements(); ++i) {
      store_real(to_.dtype, out[0], i, sums[static_cast<size_t>(i)]);
    }
    return ok_status();
  }

 private:
  Type from_, to_;
  Strides strides_;  // of the result, over the windows' dimensions
};

constexpr KernelRow kLayoutKernels[] = {
    {"transpose", make<Gathered>}, {"expand", make<Gathered>},
    {"slice", make<Gathered>},     {"flip", make<Gathered>},
    {"windows", make<Gathered>},   {"windows_grad", make<WindowsGrad>},
    {"concat", make<Concat>},      {"pad", make<Pad>},
};

}  // namespace

std::span<const KernelRow> layout_kernels() { return kLayoutKernels; }

}  // namespace gt::exec::ref
