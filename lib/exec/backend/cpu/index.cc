// gather, scatter_add and scatter. An index must name a row of the whole
// tensor; if part= puts that row elsewhere, it reads 0 and writes nothing.
#include <algorithm>
#include <cstring>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/view.h"
#include "exec/memory/part_runs.h"

namespace gt::exec::cpu {
namespace {

// The index as rows along its last dimension, together with the element of x
// that each place of it stands for when its position on the axis is 0.
class Indexed {
 public:
  Indexed(const Call& call, const Context& context)
      : index_(call.type(1)),
        places_(index_, Dtype::kI64, *context.loops),
        threads_(context.threads) {
    const Shape& shape = call.type(0).shape;
    const size_t axis = single_axis(call, 0);
    rows_of_x_ = window_of(call, axis);
    strides_ = strides_of(shape);
    step_ = shape.empty() ? 1 : strides_[axis];
    if (shape.empty()) return;
    strides_[axis] = 0;
    across_ = axis + 1 == shape.size();
    width_ = index_.shape.back();
    for (size_t d = 0; d + 1 < shape.size(); ++d) {
      outer_.push_back(index_.shape[d]);
    }
    splits_rows_ = across_ && !outer_.empty();
  }

  Status read(const void* index) {
    place_ = static_cast<const int64_t*>(places_.get(index));
    // Negative numbers are large ones without a sign. The loop has no exit, so
    // that the compiler makes packs of it.
    const auto whole = static_cast<uint64_t>(rows_of_x_.whole);
    const int64_t n = index_.elements();
    uint64_t wrong = 0;
    for (int64_t i = 0; i < n; ++i) {
      wrong |= static_cast<uint64_t>(place_[i]) >= whole ? 1 : 0;
    }
    if (wrong == 0) return ok_status();
    const auto names = [&](int64_t row) { return rows_of_x_.names(row); };
    return out_of_range(*std::find_if_not(place_, place_ + n, names),
                        rows_of_x_);
  }

  // Calls use(i, at) for each element i of the index, where `at` is the element
  // of x that it names, or -1 if that is elsewhere. Work is divided so that no
  // two threads reach the same element of x.
  template <typename Use>
  void each(const Use& use) const {
    if (index_.elements() == 0) return;
    const int64_t rows = outer_.elements();
    const int64_t least = kWorthAThread / 16;
    if (splits_rows_) {
      in_parallel(threads_, rows, least / width_ + 1,
                  [&](int64_t begin, int64_t end) {
                    some(begin, end, 0, width_, use);
                  });
    } else if (across_) {
      some(0, rows, 0, width_, use);
    } else {
      in_parallel(
          threads_, width_, least / rows + 1,
          [&](int64_t begin, int64_t end) { some(0, rows, begin, end, use); });
    }
  }

 private:
  template <typename Use>
  void some(int64_t first, int64_t last, int64_t begin, int64_t end,
            const Use& use) const {
    Walk<1> walk(outer_, {strides_});
    walk.seek(first);
    for (int64_t r = first; r < last; ++r, walk.next()) {
      const int64_t* place = place_ + r * width_;
      const int64_t base = walk[0];
      if (rows_of_x_.size < rows_of_x_.whole) {
        for (int64_t j = begin; j < end; ++j) {
          const int64_t at =
              base + (place[j] - rows_of_x_.start) * step_ + (across_ ? 0 : j);
          use(r * width_ + j, rows_of_x_.holds(place[j]) ? at : -1);
        }
      } else if (across_) {
        for (int64_t j = begin; j < end; ++j) {
          use(r * width_ + j, base + place[j] * step_);
        }
      } else {
        for (int64_t j = begin; j < end; ++j) {
          use(r * width_ + j, base + place[j] * step_ + j);
        }
      }
    }
  }

  Type index_;
  Converted places_;
  int threads_;
  const int64_t* place_ = nullptr;
  Window rows_of_x_;
  Strides strides_{};
  Shape outer_;
  int64_t width_ = 1;
  int64_t step_ = 1;
  bool across_ = true;  // true if the axis is the last dimension
  bool splits_rows_ = false;
};

// y[i,j] = x[index[i,j],j] along axis 0, and so on.
template <typename T>
class Gather final : public Kernel {
 public:
  Gather(const Call& call, const Context& context) : indexed_(call, context) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    if (Status s = indexed_.read(in[1]); !s.ok()) return s;
    const auto* x = static_cast<const T*>(in[0]);
    auto* y = static_cast<T*>(out[0]);
    indexed_.each(
        [x, y](int64_t i, int64_t at) { y[i] = at < 0 ? T{0} : x[at]; });
    return ok_status();
  }

 private:
  Indexed indexed_;
};

// y = x, then y[index[i,j],j] = src[i,j] or, if kAdds, += src[i,j], in the
// order of the index.
template <typename T, bool kAdds>
class ScatterInto final : public Kernel {
 public:
  ScatterInto(const Call& call, const Context& context)
      : indexed_(call, context), bytes_(call.results[0].bytes()) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    if (Status s = indexed_.read(in[1]); !s.ok()) return s;
    const auto* src = static_cast<const T*>(in[2]);
    auto* y = static_cast<T*>(out[0]);
    if (in[0] != out[0] && bytes_ > 0) std::memcpy(y, in[0], bytes_);
    indexed_.each([src, y](int64_t i, int64_t at) {
      if (at < 0) return;
      if constexpr (kAdds) {
        y[at] += src[i];
      } else {
        y[at] = src[i];
      }
    });
    return ok_status();
  }

  bool in_place(size_t operand, size_t /*result*/) const override {
    return operand == 0;
  }

 private:
  Indexed indexed_;
  size_t bytes_;
};
template <typename T>
using Scatter = ScatterInto<T, false>;
template <typename T>
using ScatterAdd = ScatterInto<T, true>;

std::unique_ptr<Kernel> cpu_scatter_add(const Call& call,
                                        const Context& context) {
  const Dtype dtype = call.results[0].dtype;
  if (call.type(0).dtype != dtype || call.type(2).dtype != dtype) {
    return nullptr;
  }
  return make_float<ScatterAdd>(call, context);
}

constexpr KernelRow kIndexKernels[] = {
    {"gather", make_by_size<Gather>},
    {"scatter_add", cpu_scatter_add},
    {"scatter", make_by_size<Scatter>},
};

}  // namespace

std::span<const KernelRow> index_kernels() { return kIndexKernels; }

}  // namespace gt::exec::cpu
