// Creation. Random values are the reference's, bit for bit, on any machine.
#include <cstring>
#include <string>

#include "exec/cpu/cpu.h"
#include "exec/cpu/parallel.h"
#include "exec/element.h"
#include "exec/philox.h"

namespace gt::cpu {
namespace {

// One value throughout.
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
                  std::fill(y + begin, y + end, value);
                });
  }

  Type to_;
  Dtype from_;
  int threads_;
};

constexpr int64_t kPart = 512;  // elements made at a time; even

// rand and randn: element i is made of Philox's word i, or pair i / 2.
class Random final : public Kernel {
 public:
  Random(const Call& call, const Context& context)
      : to_(call.results[0]),
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
                  for (int64_t i = begin; i < end; i += kPart) {
                    const int64_t n = std::min(kPart, end - i);
                    normal_ ? normals(seed, i, n, out[0])
                            : uniforms(seed, i, n, out[0]);
                  }
                });
    return ok_status();
  }

 private:
  void normals(uint64_t seed, int64_t first, int64_t n, void* out) const {
    double z[kPart];
    loops_.normals(seed, static_cast<uint64_t>(first) / 2, z, n + n % 2);
    if (to_.dtype == Dtype::kF32) {
      auto* y = static_cast<float*>(out) + first;
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(z[i] * scale_);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      store_real(to_.dtype, out, first + i, z[i] * scale_);
    }
  }

  void uniforms(uint64_t seed, int64_t first, int64_t n, void* out) const {
    uint64_t words[kPart];
    loops_.words(seed, static_cast<uint64_t>(first) / 2, words, n + n % 2);
    const int digits = philox::digits_of(to_.dtype);
    if (to_.dtype == Dtype::kF32) {
      auto* y = static_cast<float*>(out) + first;
      for (int64_t i = 0; i < n; ++i) {
        y[i] = static_cast<float>(philox::uniform(words[i], 24));
      }
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      store_real(to_.dtype, out, first + i, philox::uniform(words[i], digits));
    }
  }

  Type to_;
  Dtype seed_;
  bool normal_;
  double scale_;
  const Loops& loops_;
  int threads_;
};

constexpr KernelRow kRows[] = {
    {"full", make<Full>},
    {"rand", make<Random>},
    {"randn", make<Random>},
};

}  // namespace

std::span<const KernelRow> creation_kernels() { return kRows; }

}  // namespace gt::cpu
