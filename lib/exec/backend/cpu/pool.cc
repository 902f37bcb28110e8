// max_pool2d, avg_pool2d and their gradients, window by window. A plane is one
// channel of one image.
#include <algorithm>
#include <limits>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "ops/windows.h"

namespace gt::exec::cpu {
namespace {

// Calls each(at) for each element of the window that is inside the image, in
// order; `at` is an index into the plane.
template <typename Each>
void elements_of(const Windows& s, int64_t p, int64_t q, const Each& each) {
  const WindowAxis& h = s.axes[0];
  const WindowAxis& w = s.axes[1];
  for (int64_t i = 0; i < h.kernel; ++i) {
    const int64_t row = p * h.stride - h.padding + i * h.dilation;
    if (row < 0 || row >= h.in) continue;
    for (int64_t j = 0; j < w.kernel; ++j) {
      const int64_t column = q * w.stride - w.padding + j * w.dilation;
      if (column >= 0 && column < w.in) each(row * w.in + column);
    }
  }
}

// True if the first element of the window is in the margin, which counts as
// -inf.
bool begins_in_margin(const Windows& s, int64_t p, int64_t q) {
  return p * s.axes[0].stride < s.axes[0].padding ||
         q * s.axes[1].stride < s.axes[1].padding;
}

// Returns where x is largest in a window: the first of equal elements, and nan
// before all others. Returns -1 if only the margin is that large.
template <typename T>
int64_t largest(const Windows& s, const T* x, int64_t p, int64_t q) {
  T best = -std::numeric_limits<T>::infinity();
  int64_t found = -1;
  bool is_first = !begins_in_margin(s, p, q);
  elements_of(s, p, q, [&](int64_t at) {
    if (is_first || x[at] > best || (x[at] != x[at] && best == best)) {
      best = x[at];
      found = at;
    }
    is_first = false;
  });
  return found;
}

// Returns the number of elements that a mean divides by.
double count_of(const Windows& s, bool whole, int64_t p, int64_t q) {
  if (whole) return static_cast<double>(s.axes[0].kernel * s.axes[1].kernel);
  int64_t count = 0;
  elements_of(s, p, q, [&](int64_t) { ++count; });
  return static_cast<double>(count);
}

// Each of these handles one window: x is its plane, g the gradients of the
// plane's windows, y the result's plane, and i the window's number.
struct Maximum {
  template <typename T>
  static void one(const Windows& s, bool, const T* x, const T*, T* y, int64_t p,
                  int64_t q, int64_t i) {
    const int64_t at = largest(s, x, p, q);
    y[i] = at < 0 ? -std::numeric_limits<T>::infinity() : x[at];
  }
};
struct MaximumGrad {
  template <typename T>
  static void one(const Windows& s, bool, const T* x, const T* g, T* y,
                  int64_t p, int64_t q, int64_t i) {
    const int64_t at = largest(s, x, p, q);
    if (at >= 0) y[at] += g[i];
  }
};
struct Mean {
  template <typename T>
  static void one(const Windows& s, bool whole, const T* x, const T*, T* y,
                  int64_t p, int64_t q, int64_t i) {
    double sum = 0;
    elements_of(s, p, q, [&](int64_t at) { sum += x[at]; });
    y[i] = static_cast<T>(sum / count_of(s, whole, p, q));
  }
};
struct MeanGrad {
  template <typename T>
  static void one(const Windows& s, bool whole, const T*, const T* g, T* y,
                  int64_t p, int64_t q, int64_t i) {
    const auto share = static_cast<T>(g[i] / count_of(s, whole, p, q));
    elements_of(s, p, q, [&](int64_t at) { y[at] += share; });
  }
};

template <typename T, typename Window>
class Pool final : public Kernel {
 public:
  Pool(const Call& call, const Context& context)
      : s_(windows_of(call).value()),
        of_(image_operands(call)),
        whole_(call.flag("count_include_pad")),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const int64_t image = s_.axes[0].in * s_.axes[1].in;
    const int64_t made = s_.axes[0].out() * s_.axes[1].out();
    const bool is_gradient = of_.made >= 0;
    const int64_t size = is_gradient ? image : made;
    const int64_t cost = made * s_.axes[0].kernel * s_.axes[1].kernel;
    each_in_parallel(threads_, s_.n * s_.c, 4 * cost, [&](int64_t plane) {
      T* y = static_cast<T*>(out[0]) + plane * size;
      if (is_gradient) std::fill_n(y, size, T{0});
      all_windows(part(in, of_.image, plane * image),
                  part(in, of_.made, plane * made), y);
    });
    return ok_status();
  }

 private:
  static const T* part(std::span<const void* const> in, int operand,
                       int64_t offset) {
    if (operand < 0) return nullptr;
    return static_cast<const T*>(in[static_cast<size_t>(operand)]) + offset;
  }

  void all_windows(const T* x, const T* g, T* y) const {
    int64_t i = 0;
    for (int64_t p = 0; p < s_.axes[0].out(); ++p) {
      for (int64_t q = 0; q < s_.axes[1].out(); ++q, ++i) {
        Window::one(s_, whole_, x, g, y, p, q, i);
      }
    }
  }

  Windows s_;
  ImageOperands of_;
  bool whole_;
  int threads_;
};
template <typename T>
using MaxPool = Pool<T, Maximum>;
template <typename T>
using MaxPoolGrad = Pool<T, MaximumGrad>;
template <typename T>
using AvgPool = Pool<T, Mean>;
template <typename T>
using AvgPoolGrad = Pool<T, MeanGrad>;

// Makes kernels for f32 and f64 only; f16 and bf16 are converted to f32 by the
// op's expansion.
template <template <typename> class K>
std::unique_ptr<Kernel> make_pool(const Call& call, const Context& context) {
  const Dtype dtype = call.results[0].dtype;
  for (const Argument& a : call.arguments) {
    if (a.type.dtype != dtype) return nullptr;
  }
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
