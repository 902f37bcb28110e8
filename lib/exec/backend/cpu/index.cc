// gather, scatter_add, scatter and its gradient. An index must name a row of
// the whole tensor; if part= puts that row elsewhere, it reads 0 and writes
// nothing.
#include <algorithm>
#include <atomic>
#include <vector>

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
  }

  // Calls use(i, at) for each element i of the index, in order or, if
  // `kBackward`, in the reverse one; `at` is the element of x that it names, or
  // -1 if that is elsewhere. Work is divided so that, if `kWrites`, no two
  // threads reach the same element of x. Error: an index names no row of the
  // whole.
  template <bool kWrites, bool kBackward = false, typename Use>
  Status each(const void* index, const Use& use) {
    if (index_.elements() == 0) return ok_status();
    place_ = static_cast<const int64_t*>(places_.get(index));
    is_wrong_ = false;
    const int64_t rows = outer_.elements();
    const int64_t least = kWorthAThread / 16;
    if (across_ && (kWrites || rows > 1)) {
      in_parallel(threads_, rows, least / width_ + 1,
                  [&](int64_t begin, int64_t end) {
                    some<kBackward>(begin, end, 0, width_, use);
                  });
    } else {
      in_parallel(threads_, width_, least / rows + 1,
                  [&](int64_t begin, int64_t end) {
                    some<kBackward>(0, rows, begin, end, use);
                  });
    }
    if (!is_wrong_) return ok_status();
    const auto names = [&](int64_t row) { return rows_of_x_.names(row); };
    return out_of_range(
        *std::find_if_not(place_, place_ + index_.elements(), names),
        rows_of_x_);
  }

 private:
  template <bool kBackward, typename Use>
  void some(int64_t first, int64_t last, int64_t begin, int64_t end,
            const Use& use) {
    constexpr int64_t kSome = 1024;  // columns, which stay in cache
    Walk<1> walk(outer_, {strides_});
    walk.seek(kBackward ? last - 1 : first);
    for (int64_t n = last - first; n > 0; --n) {
      const int64_t r = kBackward ? first + n - 1 : last - n;
      for (int64_t left = end - begin; left > 0; left -= kSome) {
        const int64_t from =
            kBackward ? std::max(begin, begin + left - kSome) : end - left;
        row<kBackward>(r, walk[0], from, std::min(kSome, left), use);
      }
      kBackward ? walk.previous() : walk.next();
    }
  }

  // Handles n places of a row of the index, from column `begin` on; `base` is
  // the element of x that they stand for.
  template <bool kBackward, typename Use>
  void row(int64_t r, int64_t base, int64_t begin, int64_t n, Use use) {
    const int64_t i = r * width_ + begin;
    const int64_t* place = place_ + i;
    const int64_t step = step_;
    const Window rows = rows_of_x_;
    uint64_t wrong = 0;
    for (int64_t j = 0; j < n; ++j) wrong |= rows.beyond(place[j]);
    if (wrong >> 63 != 0) {
      is_wrong_ = true;
      return;
    }
    const auto all = [&](const auto& at) {
      for (int64_t k = 0; k < n; ++k) {
        const int64_t j = kBackward ? n - 1 - k : k;
        use(i + j, at(j));
      }
    };
    const int64_t along = across_ ? 0 : 1;
    base += along * begin;
    if (rows.size < rows.whole) {
      all([=](int64_t j) {
        const int64_t at = base + (place[j] - rows.start) * step + along * j;
        return rows.holds(place[j]) ? at : -1;
      });
    } else if (across_) {
      all([=](int64_t j) { return base + place[j] * step; });
    } else {
      all([=](int64_t j) { return base + place[j] * step + j; });
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
  std::atomic<bool> is_wrong_ = false;
};

// y[i,j] = x[index[i,j],j] along axis 0, and so on.
template <typename T>
class Gather final : public Kernel {
 public:
  Gather(const Call& call, const Context& context) : indexed_(call, context) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* x = static_cast<const T*>(in[0]);
    auto* y = static_cast<T*>(out[0]);
    return indexed_.each<false>(
        in[1], [x, y](int64_t i, int64_t at) { y[i] = at < 0 ? T{0} : x[at]; });
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
      : indexed_(call, context),
        bytes_(static_cast<int64_t>(call.results[0].bytes())),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* src = static_cast<const T*>(in[2]);
    auto* y = static_cast<T*>(out[0]);
    copy_in_parallel(threads_, in[0], y, bytes_);
    return indexed_.each<true>(in[1], [src, y](int64_t i, int64_t at) {
      if (at < 0) return;
      if constexpr (kAdds) {
        y[at] += src[i];
      } else {
        y[at] = src[i];
      }
    });
  }

  bool in_place(size_t operand, size_t /*result*/) const override {
    return operand == 0;
  }

 private:
  Indexed indexed_;
  int64_t bytes_;
  int threads_;
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

// scatter_grad: z[i,j] = g[index[i,j],j] if scatter's src[i,j] was the last to
// be written there, else 0.
template <typename T>
class ScatterGrad final : public Kernel {
 public:
  ScatterGrad(const Call& call, const Context& context)
      : indexed_(call, context),
        met_(static_cast<size_t>(call.type(0).elements())) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* g = static_cast<const T*>(in[0]);
    auto* z = static_cast<T*>(out[0]);
    std::fill(met_.begin(), met_.end(), char{0});
    char* met = met_.data();
    return indexed_.each<true, true>(in[1], [=](int64_t i, int64_t at) {
      const bool is_last = at >= 0 && met[at] == 0;
      z[i] = is_last ? g[at] : T{0};
      if (is_last) met[at] = 1;
    });
  }

 private:
  Indexed indexed_;
  std::vector<char> met_;  // the elements of g that a later index named
};

constexpr KernelRow kIndexKernels[] = {
    {"gather", make_by_size<Gather>},
    {"scatter_add", cpu_scatter_add},
    {"scatter", make_by_size<Scatter>},
    {"scatter_grad", make_by_size<ScatterGrad>},
};

}  // namespace

std::span<const KernelRow> index_kernels() { return kIndexKernels; }

}  // namespace gt::exec::cpu
