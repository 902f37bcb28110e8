// Ops along an axis in which the order of elements counts: cumsum, argsort and
// topk.
#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/cpu/sort_items.h"
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
    // Sums of several lines run side by side: of neighbours where there are
    // some, since these lie beside each other as well.
    const int64_t step = lines_.step;
    const int64_t side = step == 1 ? lines_.count : step;
    const int64_t lines = step == 1 ? kApart : kBeside;
    const int64_t strips = (side + lines - 1) / lines;
    each_in_parallel(
        threads_, lines_.count / std::max<int64_t>(side, 1) * strips,
        lines_.size * 8 * lines, [&](int64_t u) {
          const int64_t line = u / strips * side + u % strips * lines;
          const int64_t n = std::min(lines, side - u % strips * lines);
          const int64_t first = lines_.first(line);
          if (n < lines) {
            for (int64_t l = line; l < line + n; ++l) {
              sum_lines<1>(x + lines_.first(l), y + lines_.first(l), 0, step);
            }
          } else if (step == 1) {
            sum_lines<kApart>(x + first, y + first, lines_.size, 1);
          } else {
            sum_lines<kBeside>(x + first, y + first, 1, step);
          }
        });
    return ok_status();
  }

 private:
  // How many lines run side by side. Rows whose distance is a power of two
  // share a few places of the first-level cache, so that more would drive each
  // other out.
  static constexpr int64_t kApart = 4;
  static constexpr int64_t kBeside = 8;

  // Sums kCount lines that begin `apart` elements from each other.
  template <int64_t kCount>
  void sum_lines(const T* x, Y* y, int64_t apart, int64_t step) const {
    S sums[kCount] = {};
    for (int64_t i = 0; i < lines_.size; ++i, x += step, y += step) {
      for (int64_t k = 0; k < kCount; ++k) {
        sums[k] += static_cast<S>(x[k * apart]);
        y[k * apart] = static_cast<Y>(sums[k]);
      }
    }
  }

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

// Returns an unsigned number in the order of the elements: nan is the largest,
// and equal elements have one number. There are no branches, so that the
// compiler makes packs of it.
uint64_t rank_of(double x) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto bits = std::bit_cast<uint64_t>(x + 0.0);  // no -0
  const uint64_t flipped = bits ^ ((uint64_t{0} - (bits >> 63)) | kSign);
  return x != x ? ~uint64_t{0} : flipped;
}
uint64_t rank_of(int64_t x) {
  return static_cast<uint64_t>(x) ^ (uint64_t{1} << 63);
}

template <typename T>
void rank_all(const T* x, const Lines& lines, uint64_t flip, Item* items) {
  using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  const int64_t n = lines.size;
  const int64_t step = lines.step;
  for (int64_t i = 0; i < n; ++i) {
    items[i] = {rank_of(static_cast<Wide>(x[i * step])) ^ flip, i};
  }
}

// Writes the numbers of a line's elements, which begins at element `first`,
// with their places.
void rank_line(Dtype dtype, const void* data, int64_t first, const Lines& lines,
               bool descending, Item* items) {
  const uint64_t flip = descending ? ~uint64_t{0} : 0;
  with_element(dtype, [&]<typename T>() {
    rank_all(static_cast<const T*>(data) + first, lines, flip, items);
  });
}

// The sort is stable, and nan counts as the largest.
class Argsort final : public Kernel {
 public:
  Argsort(const Call& call, const Context& context)
      : dtype_(call.type(0).dtype),
        lines_(lines_along(call.type(0).shape, single_axis(call, 0))),
        descending_(call.flag("descending")),
        workers_(
            workers_for(context.threads, lines_.count, lines_.size * kCost)),
        threads_(workers_ > 1 ? 1 : context.threads),
        items_(static_cast<size_t>(2 * workers_ * lines_.size)) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    auto* y = static_cast<int64_t*>(out[0]);
    shared_by_workers(workers_, lines_.count, [&](int64_t l, int64_t w) {
      Item* items = items_.data() + 2 * w * lines_.size;
      const int64_t first = lines_.first(l);
      rank_line(dtype_, in[0], first, lines_, descending_, items);
      sort_items(items, items + lines_.size, lines_.size, threads_);
      for (int64_t i = 0; i < lines_.size; ++i) {
        y[first + i * lines_.step] = items[i].place;
      }
    });
    return ok_status();
  }

 private:
  static constexpr int64_t kCost = 64;

  Dtype dtype_;
  Lines lines_;
  bool descending_;
  int64_t workers_;
  int threads_;              // that share a line
  std::vector<Item> items_;  // and as many to sort them with
};

// The largest elements along an axis, largest first, and their places: what
// argsort, slice and gather give, without sorting the others.
template <typename T>
class Topk final : public Kernel {
 public:
  Topk(const Call& call, const Context& context)
      : dtype_(call.type(0).dtype),
        lines_(lines_along(call.type(0).shape, single_axis(call, 0))),
        size_(call.integer("size")),
        workers_(
            workers_for(context.threads, lines_.count, lines_.size * kCost)),
        items_(static_cast<size_t>(workers_ * lines_.size)) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto* x = static_cast<const T*>(in[0]);
    auto* v = static_cast<T*>(out[0]);
    auto* places = static_cast<int64_t*>(out[1]);
    shared_by_workers(workers_, lines_.count, [&](int64_t l, int64_t w) {
      Item* items = items_.data() + w * lines_.size;
      const int64_t first = lines_.first(l);
      rank_line(dtype_, in[0], first, lines_, true, items);
      std::partial_sort(items, items + size_, items + lines_.size);
      const int64_t to = Lines{lines_.count, size_, lines_.step}.first(l);
      for (int64_t i = 0; i < size_; ++i) {
        v[to + i * lines_.step] = x[first + items[i].place * lines_.step];
        places[to + i * lines_.step] = items[i].place;
      }
    });
    return ok_status();
  }

 private:
  static constexpr int64_t kCost = 8;

  Dtype dtype_;
  Lines lines_;
  int64_t size_;
  int64_t workers_;
  std::vector<Item> items_;
};

constexpr KernelRow kOrderKernels[] = {
    {"cumsum", cpu_cumsum},
    {"argsort", make<Argsort>},
    {"topk", make_by_size<Topk>},
};

}  // namespace

std::span<const KernelRow> order_kernels() { return kOrderKernels; }

}  // namespace gt::exec::cpu
