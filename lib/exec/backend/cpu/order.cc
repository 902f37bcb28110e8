// Ops along an axis in which the order of elements counts: cumsum and argsort.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/element.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {
namespace {

// T is the type of x's elements, S that of the running sum, and Y that of the
// result.
template <typename T, typename S, typename Y>
class Cumsum final : public Kernel {
 public:
  Cumsum(const Call& call, const Context& context)
      : lines_(lines_along(call.type(0).shape, single_axis(call, 0))),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* x = static_cast<const T*>(in[0]);
    auto* y = static_cast<Y*>(out[0]);
    each_in_parallel(threads_, lines_.count, lines_.size * 8, [&](int64_t l) {
      const int64_t first = lines_.first(l);
      S sum = 0;
      for (int64_t i = 0; i < lines_.size; ++i) {
        const int64_t at = first + i * lines_.step;
        sum += static_cast<S>(x[at]);
        y[at] = static_cast<Y>(sum);
      }
    });
    return ok_status();
  }

 private:
  Lines lines_;
  int threads_;
};

std::unique_ptr<Kernel> cpu_cumsum(const Call& call, const Context& context) {
  return with_element(
      call.type(0).dtype, [&]<typename T>() -> std::unique_ptr<Kernel> {
        if constexpr (std::is_integral_v<T>) {  // sums of integers wrap
          return make<Cumsum<T, uint64_t, int64_t>>(call, context);
        } else if constexpr (std::is_same_v<T, float>) {
          return make<Cumsum<float, double, float>>(call, context);
        } else if constexpr (std::is_same_v<T, double>) {
          return make<Cumsum<double, long double, double>>(call, context);
        } else {
          return nullptr;
        }
      });
}

// The sort is stable, and nan counts as the largest. Elements are mapped to
// unsigned numbers of the same order, equal elements to the same number, so
// that numbers with their places can be sorted plainly.
class Argsort final : public Kernel {
 public:
  Argsort(const Call& call, const Context& context)
      : dtype_(call.type(0).dtype),
        lines_(lines_along(call.type(0).shape, single_axis(call, 0))),
        descending_(call.flag("descending")),
        workers_(
            workers_for(context.threads, lines_.count, lines_.size * kCost)),
        items_(static_cast<size_t>(workers_ * lines_.size)) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    auto* y = static_cast<int64_t*>(out[0]);
    shared_by_workers(workers_, lines_.count, [&](int64_t l, int64_t w) {
      Item* items = items_.data() + w * lines_.size;
      const int64_t first = lines_.first(l);
      for (int64_t i = 0; i < lines_.size; ++i) {
        const uint64_t rank = rank_of(in[0], first + i * lines_.step);
        items[i] = {descending_ ? ~rank : rank, i};
      }
      std::sort(items, items + lines_.size);
      for (int64_t i = 0; i < lines_.size; ++i) {
        y[first + i * lines_.step] = items[i].place;
      }
    });
    return ok_status();
  }

 private:
  static constexpr int64_t kCost = 64;

  struct Item {
    uint64_t rank;
    int64_t place;
    bool operator<(const Item& other) const {
      return rank != other.rank ? rank < other.rank : place < other.place;
    }
  };

  uint64_t rank_of(const void* data, int64_t i) const {
    constexpr uint64_t kSign = uint64_t{1} << 63;
    if (!is_float(dtype_)) {
      return static_cast<uint64_t>(load_int(dtype_, data, i)) ^ kSign;
    }
    const double x = load_real(dtype_, data, i);
    if (std::isnan(x)) return ~uint64_t{0};
    const auto bits = std::bit_cast<uint64_t>(x == 0 ? 0.0 : x);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  }

  Dtype dtype_;
  Lines lines_;
  bool descending_;
  int64_t workers_;
  std::vector<Item> items_;
};

constexpr KernelRow kOrderKernels[] = {
    {"cumsum", cpu_cumsum},
    {"argsort", make<Argsort>},
};

}  // namespace

std::span<const KernelRow> order_kernels() { return kOrderKernels; }

}  // namespace gt::exec::cpu
