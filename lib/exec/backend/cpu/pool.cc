// max_pool2d, avg_pool2d and their gradients, plane by plane; a plane is one
// channel of one image. A whole row of windows is handled at a time.
#include <algorithm>
#include <limits>
#include <vector>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "ops/windows.h"

namespace gt::exec::cpu {
namespace {

// The sizes of a pool, and what its kernels share.
struct Sizes {
  Sizes(const Call& call, const Context& context)
      : windows(windows_of(call).value()),
        of(image_operands(call)),
        planes(windows.n * windows.c),
        image(height().in * width().in),
        made(height().out() * width().out()),
        cost(4 * made * height().kernel * width().kernel),
        workers(workers_for(context.threads, planes, cost)) {}

  const WindowAxis& height() const { return windows.axes[0]; }
  const WindowAxis& width() const { return windows.axes[1]; }

  // Returns the plane of an operand of this role, whose planes have `size`
  // elements.
  template <typename T>
  static const T* plane(std::span<const void* const> in, int role, int64_t i,
                        int64_t size) {
    return static_cast<const T*>(in[static_cast<size_t>(role)]) + i * size;
  }

  Windows windows;
  ImageOperands of;
  int64_t planes;
  int64_t image, made;  // elements of a plane
  int64_t cost;         // of a plane
  int64_t workers;
};

PoolAxis pool_axis(const WindowAxis& axis) {
  return {axis.in,     axis.out(),   axis.kernel,
          axis.stride, axis.padding, axis.dilation};
}

// The largest element of each window or, if kIsGradient, the sum of the
// gradients of those windows in which an element is the largest.
template <typename T, bool kIsGradient>
class Largest final : public Kernel {
 public:
  Largest(const Call& call, const Context& context)
      : sizes_(call, context),
        height_(pool_axis(sizes_.height())),
        width_(pool_axis(sizes_.width())),
        kept_(pool_kept(height_)),
        largest_(loops_for<T>(context).pool_largest),
        space_(static_cast<size_t>(sizes_.workers)) {
    for (Space& space : space_) {
      space.ranks.resize(static_cast<size_t>(kept_ * pool_kept_row(width_)));
      space.places.resize(static_cast<size_t>(pool_row(width_)));
    }
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    shared_by_workers(sizes_.workers, sizes_.planes, [&](int64_t i, int64_t w) {
      Space& space = space_[static_cast<size_t>(w)];
      const T* x = Sizes::plane<T>(in, sizes_.of.image, i, sizes_.image);
      PoolPlane<T> plane{
          height_, width_, x, kept_, space.ranks.data(), space.places.data()};
      auto* y = static_cast<T*>(out[0]);
      if constexpr (kIsGradient) {
        spread(plane, Sizes::plane<T>(in, sizes_.of.made, i, sizes_.made),
               y + i * sizes_.image);
      } else {
        collect(plane, y + i * sizes_.made);
      }
    });
    return ok_status();
  }

 private:
  struct Space {
    std::vector<PoolPlace<T>> ranks, places;
  };

  void collect(PoolPlane<T>& plane, T* y) const {
    for (int64_t p = 0; p < height_.out; ++p, y += width_.out) {
      largest_(plane, p);
      for (int64_t q = 0; q < width_.out; ++q) {
        const PoolPlace<T> at = plane.places[q];
        y[q] = at < 0 ? -std::numeric_limits<T>::infinity() : plane.x[at];
      }
    }
  }

  void spread(PoolPlane<T>& plane, const T* g, T* y) const {
    for (int64_t p = 0; p < height_.out; ++p, g += width_.out) {
      const int64_t begin = plane.reached * width_.in;
      largest_(plane, p);
      std::fill(y + begin, y + plane.reached * width_.in, T{0});
      for (int64_t q = 0; q < width_.out; ++q) {
        const PoolPlace<T> at = plane.places[q];
        if (at >= 0) y[at] += g[q];
      }
    }
    std::fill(y + plane.reached * width_.in, y + sizes_.image, T{0});
  }

  Sizes sizes_;
  PoolAxis height_, width_;
  int64_t kept_;
  void (*largest_)(PoolPlane<T>&, int64_t);
  std::vector<Space> space_;
};
template <typename T>
using MaxPool = Largest<T, false>;
template <typename T>
using MaxPoolGrad = Largest<T, true>;

// Where the elements that are number k of their windows along an axis lie: the
// windows [first, last) have one inside the image, and that of window i is
// offset + i * stride.
struct Inside {
  Inside(const WindowAxis& axis, int64_t k)
      : offset(k * axis.dilation - axis.padding) {
    const int64_t room = axis.in - 1 - offset;
    if (offset < 0) first = (axis.stride - 1 - offset) / axis.stride;
    if (room >= 0) last = std::min(axis.out(), room / axis.stride + 1);
  }
  int64_t offset;
  int64_t first = 0, last = 0;
};

// Returns how many elements of each window along an axis a mean counts.
std::vector<double> counts_of(const WindowAxis& axis, bool whole) {
  std::vector<double> counts(static_cast<size_t>(axis.out()),
                             whole ? static_cast<double>(axis.kernel) : 0);
  for (int64_t k = 0; k < axis.kernel && !whole; ++k) {
    const Inside inside(axis, k);
    for (int64_t i = inside.first; i < inside.last; ++i) {
      ++counts[static_cast<size_t>(i)];
    }
  }
  return counts;
}

// The mean of each window or, if kIsGradient, the sum of the shares that an
// element has in the gradients of its windows. An element's terms are added in
// the order of elements or windows.
template <typename T, bool kIsGradient>
class Mean final : public Kernel {
 public:
  Mean(const Call& call, const Context& context)
      : sizes_(call, context),
        rows_(counts_of(sizes_.height(), call.flag("count_include_pad"))),
        columns_(counts_of(sizes_.width(), call.flag("count_include_pad"))) {
    row_.reserve(sizes_.workers, sizes_.width().out());
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    shared_by_workers(sizes_.workers, sizes_.planes, [&](int64_t i, int64_t w) {
      Sum* row = row_.of(w);
      auto* y = static_cast<T*>(out[0]);
      if constexpr (kIsGradient) {
        spread(Sizes::plane<T>(in, sizes_.of.made, i, sizes_.made), row,
               y + i * sizes_.image);
      } else {
        average(Sizes::plane<T>(in, sizes_.of.image, i, sizes_.image), row,
                y + i * sizes_.made);
      }
    });
    return ok_status();
  }

 private:
  // Sums of elements are taken in double.
  using Sum = std::conditional_t<kIsGradient, T, double>;

  void average(const T* x, double* sums, T* y) const {
    for (size_t p = 0; p < rows_.size(); ++p, y += columns_.size()) {
      std::fill_n(sums, columns_.size(), 0.0);
      each_row(p, [&](int64_t begin) {
        for (int64_t j = 0; j < sizes_.width().kernel; ++j) {
          each_column(j, begin,
                      [&](int64_t q, int64_t at) { sums[q] += x[at]; });
        }
      });
      for (size_t q = 0; q < columns_.size(); ++q) {
        y[q] = static_cast<T>(sums[q] / (rows_[p] * columns_[q]));
      }
    }
  }

  // Along a row, later windows reach an element with earlier elements of
  // theirs.
  void spread(const T* g, T* shares, T* y) const {
    std::fill_n(y, sizes_.image, T{0});
    for (size_t p = 0; p < rows_.size(); ++p, g += columns_.size()) {
      for (size_t q = 0; q < columns_.size(); ++q) {
        shares[q] = static_cast<T>(g[q] / (rows_[p] * columns_[q]));
      }
      each_row(p, [&](int64_t begin) {
        for (int64_t j = sizes_.width().kernel; j-- > 0;) {
          each_column(j, begin,
                      [&](int64_t q, int64_t at) { y[at] += shares[q]; });
        }
      });
    }
  }

  // Calls use(begin) for where each row that is in the windows p begins.
  template <typename Use>
  void each_row(size_t p, const Use& use) const {
    const WindowAxis& h = sizes_.height();
    const int64_t top = static_cast<int64_t>(p) * h.stride - h.padding;
    for (int64_t i = 0; i < h.kernel; ++i) {
      const int64_t row = top + i * h.dilation;
      if (row >= 0 && row < h.in) use(row * sizes_.width().in);
    }
  }

  // Calls use(q, at) for those windows of a row whose column j is in the row of
  // the image that begins at `begin`.
  template <typename Use>
  void each_column(int64_t j, int64_t begin, const Use& use) const {
    const int64_t stride = sizes_.width().stride;
    const Inside inside(sizes_.width(), j);
    for (int64_t q = inside.first; q < inside.last; ++q) {
      use(q, begin + inside.offset + q * stride);
    }
  }

  Sizes sizes_;
  std::vector<double> rows_, columns_;
  WorkerScratch<Sum> row_;
};
template <typename T>
using AvgPool = Mean<T, false>;
template <typename T>
using AvgPoolGrad = Mean<T, true>;

// Makes kernels for f32 and f64 only; f16 and bf16 are converted to f32 by the
// op's expansion. The place of an element is an i32 beside f32.
template <template <typename> class K>
std::unique_ptr<Kernel> make_pool(const Call& call, const Context& context) {
  const Dtype dtype = call.results[0].dtype;
  for (const Argument& a : call.arguments) {
    if (a.type.dtype != dtype) return nullptr;
  }
  const Sizes sizes(call, context);
  if (sizes.image > std::numeric_limits<int32_t>::max()) return nullptr;
  return make_float<K>(call, context);
}

constexpr KernelRow kPoolKernels[] = {
    {"max_pool2d", make_pool<MaxPool>},
    {"max_pool2d_grad", make_pool<MaxPoolGrad>},
    {"avg_pool2d", make_pool<AvgPool>},
    {"avg_pool2d_grad", make_pool<AvgPoolGrad>},
};

}  // namespace

std::span<const KernelRow> pool_kernels() { return kPoolKernels; }

}  // namespace gt::exec::cpu
