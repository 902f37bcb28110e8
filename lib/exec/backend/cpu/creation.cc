// Kernels that create tensors. Random values have the same bits as the
// reference's, on any machine.
#include <algorithm>
#include <atomic>
#include <bit>
#include <string>
#include <vector>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/cpu/sort_items.h"
#include "exec/backend/element.h"
#include "exec/backend/philox.h"
#include "exec/memory/part_runs.h"

namespace gt::exec::cpu {
namespace {

// Fills the result with one value.
class Full final : public Kernel {
 public:
  Full(const Call& call, const Context& context)
      : to_(call.results[0]),
        from_(call.type(1).dtype),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    uint64_t value = 0;
    if (is_float(from_)) {
      store_real(to_.dtype, &value, 0, load_real(from_, in[1], 0));
    } else {
      store_int(to_.dtype, &value, 0, load_int(from_, in[1], 0));
    }
    switch (size_of(to_.dtype)) {
      case 1:
        fill(out[0], static_cast<uint8_t>(value));
        break;
      case 2:
        fill(out[0], static_cast<uint16_t>(value));
        break;
      case 4:
        fill(out[0], static_cast<uint32_t>(value));
        break;
      default:
        fill(out[0], value);
    }
    return ok_status();
  }

 private:
  template <typename T>
  void fill(void* out, T value) const {
    in_parallel(threads_, to_.elements(), kWorthAThread / 4,
                [&](int64_t begin, int64_t end) {
                  auto* y = static_cast<T*>(out);
                  if (value == 0) {  // quicker than with any other value
                    std::fill(y + begin, y + end, T{0});
                  } else {
                    std::fill(y + begin, y + end, value);
                  }
                });
  }

  Type to_;
  Dtype from_;
  int threads_;
};

// Ones where both indices in the whole are equal, zeros elsewhere.
class Eye final : public Kernel {
 public:
  Eye(const Call& call, const Context& context)
      : to_(call.results[0]),
        runs_(call),
        columns_(window_of(call, 1).whole),
        threads_(context.threads) {}

  Status run(std::span<const void* const> /*in*/,
             std::span<void* const> out) override {
    const auto size = static_cast<int64_t>(size_of(to_.dtype));
    in_parallel(threads_, to_.elements(), kWorthAThread / size,
                [&](int64_t begin, int64_t end) {
                  auto* y = static_cast<char*>(out[0]);
                  std::fill(y + begin * size, y + end * size, '\0');
                  runs_.each(begin, end, [&](int64_t i, int64_t g, int64_t n) {
                    ones(out[0], i, g, n);
                  });
                });
    return ok_status();
  }

 private:
  // Stores the ones among n elements, from g on in the whole tensor and from
  // `at` on in the result.
  void ones(void* out, int64_t at, int64_t g, int64_t n) const {
    const int64_t step = columns_ + 1;
    for (int64_t d = (g + columns_) / step; d < columns_; ++d) {
      if (d * step >= g + n) return;
      store_int(to_.dtype, out, at + d * step - g, 1);
    }
  }

  Type to_;
  PartRuns runs_;
  int64_t columns_;
  int threads_;
};

// The number of elements made at a time; even.
constexpr int64_t kRandomPart = 512;

// rand and randn: an element is made of the Philox word, or half of the pair,
// that belongs to its index in the whole tensor.
class Random final : public Kernel {
 public:
  Random(const Call& call, const Context& context)
      : to_(call.results[0]),
        runs_(call),
        seed_(call.type(1).dtype),
        normal_(call.op->name == "randn"),
        scale_(normal_ ? call.number("scale") : 1),
        loops_(*context.loops),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto seed = static_cast<uint64_t>(load_int(seed_, in[1], 0));
    const int64_t least = kWorthAThread / (normal_ ? 32 : 8);
    in_parallel(threads_, to_.elements(), least,
                [&](int64_t begin, int64_t end) {
                  runs_.each(begin, end, [&](int64_t i, int64_t g, int64_t n) {
                    for (int64_t k = 0; k < n; k += kRandomPart) {
                      const int64_t part = std::min(kRandomPart, n - k);
                      normal_ ? normals(seed, g + k, part, out[0], i + k)
                              : uniforms(seed, g + k, part, out[0], i + k);
                    }
                  });
                });
    return ok_status();
  }

 private:
  // These write n elements, from g on in the whole tensor and from `at` on in
  // the result. They generate from an even index on.
  void normals(uint64_t seed, int64_t g, int64_t n, void* out,
               int64_t at) const {
    double made[kRandomPart + 2];
    const int64_t odd = g % 2;
    loops_.normals(seed, static_cast<uint64_t>(g) / 2, made, even(n + odd));
    const double* z = made + odd;
    if (to_.dtype == Dtype::kF32) {
      auto* y = static_cast<float*>(out) + at;
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(z[i] * scale_);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      store_real(to_.dtype, out, at + i, z[i] * scale_);
    }
  }

  void uniforms(uint64_t seed, int64_t g, int64_t n, void* out,
                int64_t at) const {
    if (to_.dtype == Dtype::kF32) {
      loops_.uniforms(seed, static_cast<uint64_t>(g),
                      static_cast<float*>(out) + at, n);
      return;
    }
    uint64_t made[kRandomPart + 2];
    const int64_t odd = g % 2;
    loops_.words(seed, static_cast<uint64_t>(g) / 2, made, even(n + odd));
    const uint64_t* words = made + odd;
    const int digits = traits(to_.dtype).digits;
    for (int64_t i = 0; i < n; ++i) {
      store_real(to_.dtype, out, at + i, philox::uniform(words[i], digits));
    }
  }

  static int64_t even(int64_t n) { return n + n % 2; }

  Type to_;
  PartRuns runs_;
  Dtype seed_;
  bool normal_;
  double scale_;
  const Loops& loops_;
  int threads_;
};

// start + i * step, where i is the index in the whole tensor.
class Arange final : public Kernel {
 public:
  Arange(const Call& call, const Context& context)
      : to_(call.results[0]), runs_(call), threads_(context.threads) {
    for (size_t k = 0; k < 2; ++k) from_[k] = call.arguments[k + 1].type.dtype;
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const bool real = is_float(to_.dtype) || is_real(in, 0) || is_real(in, 1);
    in_parallel(threads_, to_.elements(), kWorthAThread / 8,
                [&](int64_t begin, int64_t end) {
                  runs_.each(begin, end, [&](int64_t i, int64_t g, int64_t n) {
                    real ? reals(in, g, n, out[0], i)
                         : integers(in, g, n, out[0], i);
                  });
                });
    return ok_status();
  }

 private:
  bool is_real(std::span<const void* const> in, size_t k) const {
    return in[k + 1] != nullptr && is_float(from_[k]);
  }

  // These write n elements, from g on in the whole tensor and from `at` on in
  // the result.
  void reals(std::span<const void* const> in, int64_t g, int64_t n, void* out,
             int64_t at) const {
    const double start = in[1] == nullptr ? 0 : load_real(from_[0], in[1], 0);
    const double step = in[2] == nullptr ? 1 : load_real(from_[1], in[2], 0);
    if (to_.dtype == Dtype::kF32 && g + n <= kExact) {
      floats(start, step, g, n, static_cast<float*>(out) + at);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      store_real(to_.dtype, out, at + i,
                 start + static_cast<double>(g + i) * step);
    }
  }

  // Up to this, a sum of indices is exact in double.
  static constexpr int64_t kExact = int64_t{1} << 53;

  // Any x86-64 converts several int32 at once, but not int64.
  static void floats(double start, double step, int64_t g, int64_t n,
                     float* y) {
    constexpr int64_t kMost = int64_t{1} << 30;
    for (int64_t k = 0; k < n; k += kMost) {
      const auto first = static_cast<double>(g + k);
      const auto part = static_cast<int32_t>(std::min(kMost, n - k));
      for (int32_t i = 0; i < part; ++i) {
        const double index = first + static_cast<double>(i);
        y[k + i] = static_cast<float>(start + index * step);
      }
    }
  }

  void integers(std::span<const void* const> in, int64_t g, int64_t n,
                void* out, int64_t at) const {
    const int64_t start = in[1] == nullptr ? 0 : load_int(from_[0], in[1], 0);
    const int64_t step = in[2] == nullptr ? 1 : load_int(from_[1], in[2], 0);
    if (to_.dtype == Dtype::kI64) {
      auto* y = static_cast<int64_t*>(out) + at;
      for (int64_t i = 0; i < n; ++i) {
        y[i] = wrap_add(start, wrap_mul(g + i, step));
      }
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      store_int(to_.dtype, out, at + i, wrap_add(start, wrap_mul(g + i, step)));
    }
  }

  Type to_;
  PartRuns runs_;
  Dtype from_[2];
  int threads_;
};

// The indices of the whole tensor, sorted by their random words. An index is
// put into the low bits of its word, so that half as much is moved; where the
// high bits are equal, the words decide.
class Randperm final : public Kernel {
 public:
  Randperm(const Call& call, const Context& context)
      : to_(call.results[0]),
        runs_(call),
        whole_(window_of(call, 0).whole),
        low_((uint64_t{1} << std::bit_width(static_cast<uint64_t>(whole_))) -
             1),
        seed_(call.type(1).dtype),
        loops_(*context.loops),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto seed = static_cast<uint64_t>(load_int(seed_, in[1], 0));
    keys_.resize(static_cast<size_t>(2 * whole_));
    uint64_t* keys = keys_.data();
    const uint64_t low = low_;
    const int64_t least = kWorthAThread / 8;
    in_parallel(threads_, whole_, least, [=, this](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; g += kRandomPart) {
        uint64_t words[kRandomPart];
        const int64_t n = std::min(kRandomPart, end - g);
        loops_.words(seed, static_cast<uint64_t>(g) / 2, words, n + n % 2);
        for (int64_t i = 0; i < n; ++i) {
          keys[g + i] = (words[i] & ~low) | static_cast<uint64_t>(g + i);
        }
      }
    });
    sort_numbers(keys, keys + whole_, whole_, threads_);
    std::atomic<bool> is_open = false;  // two keys are equal but for indices
    in_parallel(threads_, whole_ - 1, least, [&](int64_t begin, int64_t end) {
      bool equal = false;
      for (int64_t i = begin; i < end; ++i) {
        equal |= (keys[i] ^ keys[i + 1]) <= low;
      }
      if (equal) is_open = true;
    });
    for (int64_t i = 1; is_open && i < whole_; ++i) {
      if ((keys[i - 1] ^ keys[i]) <= low) i = decide(seed, i - 1);
    }
    in_parallel(threads_, to_.elements(), least,
                [&](int64_t begin, int64_t end) {
                  runs_.each(begin, end, [&](int64_t i, int64_t g, int64_t n) {
                    if (to_.dtype == Dtype::kI64) {
                      auto* y = static_cast<uint64_t*>(out[0]) + i;
                      for (int64_t k = 0; k < n; ++k) y[k] = keys[g + k] & low;
                      return;
                    }
                    for (int64_t k = 0; k < n; ++k) {
                      store_int(to_.dtype, out[0], i + k,
                                static_cast<int64_t>(keys[g + k] & low));
                    }
                  });
                });
    return ok_status();
  }

 private:
  // Sorts the keys from `first` on whose high bits are equal, and returns where
  // they end.
  int64_t decide(uint64_t seed, int64_t first) {
    std::vector<Item> items;
    const uint64_t high = keys_[static_cast<size_t>(first)] & ~low_;
    int64_t end = first;
    for (; end < whole_; ++end) {
      const uint64_t key = keys_[static_cast<size_t>(end)];
      if ((key & ~low_) != high) break;
      const uint64_t place = key & low_;
      items.push_back({philox::word(seed, place), static_cast<int64_t>(place)});
    }
    std::sort(items.begin(), items.end());
    for (const Item& item : items) {
      keys_[static_cast<size_t>(first++)] =
          high | static_cast<uint64_t>(item.place);
    }
    return end;
  }

  Type to_;
  PartRuns runs_;
  int64_t whole_;
  uint64_t low_;  // the bits of an index
  Dtype seed_;
  const Loops& loops_;
  int threads_;
  std::vector<uint64_t> keys_;  // and as many to sort them with
};

constexpr KernelRow kCreationKernels[] = {
    {"full", make<Full>},     {"eye", make<Eye>},
    {"arange", make<Arange>}, {"randperm", make<Randperm>},
    {"rand", make<Random>},   {"randn", make<Random>},
};

}  // namespace

std::span<const KernelRow> creation_kernels() { return kCreationKernels; }

}  // namespace gt::exec::cpu
