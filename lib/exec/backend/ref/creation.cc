// Kernels that create tensors from a type, a few numbers and a seed.
#include <algorithm>
#include <string>
#include <vector>

#include "exec/backend/element.h"
#include "exec/backend/philox.h"
#include "exec/backend/ref/ref.h"
#include "exec/memory/part_runs.h"

namespace gt::exec::ref {
namespace {

// A scalar operand that may be absent.
struct Scalar {
  Scalar(const Call& call, size_t i)
      : index(i), dtype(call.arguments[i].type.dtype) {}
  size_t index;
  Dtype dtype;
  bool is_real(std::span<const void* const> in) const {
    return in[index] != nullptr && is_float(dtype);
  }
  double real(std::span<const void* const> in, double fallback) const {
    return in[index] == nullptr ? fallback : load_real(dtype, in[index], 0);
  }
  int64_t integer(std::span<const void* const> in, int64_t fallback) const {
    return in[index] == nullptr ? fallback : load_int(dtype, in[index], 0);
  }
};

class Creation : public Kernel {
 public:
  explicit Creation(const Call& call) : type_(call.results[0]), runs_(call) {}

 protected:
  const Type type_;
  const PartRuns runs_;
};

class Tensor final : public Creation {
 public:
  explicit Tensor(const Call& call) : Creation(call), bytes_(type_.bytes()) {
    // The call's numbers are those of the whole tensor.
    each_of_part(runs_, [&](int64_t i, int64_t g) {
      write(i, *parse_number(call.numbers[static_cast<size_t>(g)].text));
    });
  }
  Status run(std::span<const void* const> /*in*/,
             std::span<void* const> out) override {
    std::copy(bytes_.begin(), bytes_.end(), static_cast<std::byte*>(out[0]));
    return ok_status();
  }

 private:
  void write(int64_t i, const Number& n) {
    const bool whole = n.kind != Number::Kind::kFloat && n.integer != 0;
    if (is_float(type_.dtype) && !whole) {  // -0 too
      store_real(type_.dtype, bytes_.data(), i, n.real);
    } else {
      store_int(type_.dtype, bytes_.data(), i, n.integer);
    }
  }

  std::vector<std::byte> bytes_;  // the result's elements
};

class Full final : public Creation {
 public:
  explicit Full(const Call& call) : Creation(call), value_(call, 1) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const bool real = is_float(value_.dtype);
    for (int64_t i = 0; i < type_.elements(); ++i) {
      if (real) {
        store_real(type_.dtype, out[0], i, value_.real(in, 0));
      } else {
        store_int(type_.dtype, out[0], i, value_.integer(in, 0));
      }
    }
    return ok_status();
  }

 private:
  Scalar value_;
};

// start + i * step; an element depends only on its index in the whole tensor.
class Arange final : public Creation {
 public:
  explicit Arange(const Call& call)
      : Creation(call), start_(call, 1), step_(call, 2) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const bool real =
        is_float(type_.dtype) || start_.is_real(in) || step_.is_real(in);
    each_of_part(runs_, [&](int64_t i, int64_t g) {
      if (real) {
        store_real(
            type_.dtype, out[0], i,
            start_.real(in, 0) + static_cast<double>(g) * step_.real(in, 1));
      } else {
        store_int(
            type_.dtype, out[0], i,
            wrap_add(start_.integer(in, 0), wrap_mul(g, step_.integer(in, 1))));
      }
    });
    return ok_status();
  }

 private:
  Scalar start_;
  Scalar step_;
};

class Eye final : public Creation {
 public:
  explicit Eye(const Call& call)
      : Creation(call), columns_(part_of(call).value().whole[1]) {}
  Status run(std::span<const void* const> /*in*/,
             std::span<void* const> out) override {
    each_of_part(runs_, [&](int64_t i, int64_t g) {
      const bool diagonal = g / columns_ == g % columns_;
      store_int(type_.dtype, out[0], i, diagonal ? 1 : 0);
    });
    return ok_status();
  }

 private:
  int64_t columns_;
};

class Rand final : public Creation {
 public:
  explicit Rand(const Call& call) : Creation(call), seed_(call, 1) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto seed = static_cast<uint64_t>(seed_.integer(in, 0));
    const int digits = traits(type_.dtype).digits;
    each_of_part(runs_, [&](int64_t i, int64_t g) {
      const uint64_t word = philox::word(seed, static_cast<uint64_t>(g));
      store_real(type_.dtype, out[0], i, philox::uniform(word, digits));
    });
    return ok_status();
  }

 private:
  Scalar seed_;
};

class Randn final : public Creation {
 public:
  explicit Randn(const Call& call)
      : Creation(call), seed_(call, 1), scale_(call.number("scale")) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto seed = static_cast<uint64_t>(seed_.integer(in, 0));
    each_of_part(runs_, [&](int64_t i, int64_t g) {
      const auto block = static_cast<uint64_t>(g) / 2;
      const philox::Circle z = philox::normal(philox::pair(seed, block));
      store_real(type_.dtype, out[0], i, (g % 2 == 0 ? z.cos : z.sin) * scale_);
    });
    return ok_status();
  }

 private:
  Scalar seed_;
  double scale_;
};

// The indices of the whole tensor, sorted by their random words.
class Randperm final : public Creation {
 public:
  explicit Randperm(const Call& call)
      : Creation(call), seed_(call, 1), whole_(window_of(call, 0).whole) {}
  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const auto seed = static_cast<uint64_t>(seed_.integer(in, 0));
    std::vector<std::pair<uint64_t, int64_t>> order;
    for (int64_t i = 0; i < whole_; ++i) {
      order.emplace_back(philox::word(seed, static_cast<uint64_t>(i)), i);
    }
    std::sort(order.begin(), order.end());
    each_of_part(runs_, [&](int64_t i, int64_t g) {
      store_int(type_.dtype, out[0], i, order[static_cast<size_t>(g)].second);
    });
    return ok_status();
  }

 private:
  Scalar seed_;
  int64_t whole_;
};

constexpr KernelRow kCreationKernels[] = {
    {"tensor", make<Tensor>},     {"full", make<Full>},
    {"arange", make<Arange>},     {"eye", make<Eye>},
    {"rand", make<Rand>},         {"randn", make<Randn>},
    {"randperm", make<Randperm>},
};

}  // namespace

std::span<const KernelRow> creation_kernels() { return kCreationKernels; }

}  // namespace gt::exec::ref
