// Point-wise kernels: dimensions are joined where all operands allow it, and an
// inner loop runs over each row. Operands of another dtype are converted on the
// way, a block at a time; f16 and bf16 are computed in f32.
#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "exec/backend/cpu/convert.h"
#include "exec/backend/cpu/cpu.h"
#include "exec/backend/cpu/integer_loops.h"
#include "exec/backend/cpu/parallel.h"
#include "exec/backend/cpu/tiled.h"
#include "exec/backend/element.h"
#include "exec/backend/view.h"

namespace gt::exec::cpu {
namespace {

constexpr size_t kMost = Tiled::kMostOperands;
constexpr int64_t kBlock = 1024;

// The loop for an op, and the dtypes that it reads and writes.
struct Choice {
  Loop loop = nullptr;
  // A comparison of an i64, operand `integer`, with a float: the loop that is
  // exact whatever the integers are.
  Loop exact = nullptr;
  size_t integer = 0;
  Dtype compute = Dtype::kF32;
  Dtype result = Dtype::kF32;
  bool costly = false;
};

Choice choose(const Call& call, const Loops& loops) {
  Choice c;
  const Dtype domain = domain_of(call);
  c.compute = traits(domain).computed;
  if (const auto integer = integer_operand(call)) {
    c.exact = mixed_loop(call.op->name, *integer);
    c.integer = *integer;
  }
  if (!is_float(domain)) {
    const IntegerRow* row = integer_row(call.op->name, domain);
    if (row == nullptr) return c;
    c.loop = row->loop(domain);
    c.result = row->to_bool ? Dtype::kBool : domain;
    return c;
  }
  for (size_t i = 0; i < loops.pointwise_count; ++i) {
    const PointwiseRow& row = loops.pointwise[i];
    if (call.op->name != row.op || call.key("approximate") != row.key) continue;
    c.loop = c.compute == Dtype::kF32 ? row.f32 : row.f64;
    c.result = row.to_bool ? Dtype::kBool : c.compute;
    c.costly = row.costly;
  }
  return c;
}

// The result's dimensions, joined where all operands allow it.
struct Nest {
  Shape outer;
  int64_t inner = 1;
  std::array<Strides, kMost> strides{};  // for the outer dimensions
  std::array<bool, kMost> repeat{};      // for the inner dimension
};

Nest nest_of(const Shape& shape, const std::vector<Strides>& strides) {
  const JoinedDimensions joined = join_dimensions(shape, strides);
  Nest nest;
  if (joined.sizes.empty()) return nest;
  nest.outer = joined.sizes;
  nest.outer.erase(nest.outer.size() - 1);
  nest.inner = joined.sizes.back();
  for (size_t k = 0; k < strides.size(); ++k) {
    nest.strides[k] = joined.strides[k];
    nest.repeat[k] = joined.strides[k][nest.outer.size()] == 0;
  }
  return nest;
}

class Pointwise final : public Tiled {
 public:
  Pointwise(const Call& call, const Context& context, const Choice& choice)
      : choice_(choice),
        any_beyond_f64_(context.loops->any_beyond_f64),
        threads_(context.threads),
        result_(call.results[0]),
        n_(result_.elements()) {
    const bool where = call.op->name == "where";
    const Dtype domain = domain_of(call);
    // For f16 and bf16 results, numbers of the line are rounded to f32; for
    // comparisons they are rounded to the operands' dtype.
    round_ = result_.dtype == domain ? traits(domain).computed : domain;
    std::vector<Strides> strides;
    for (const Argument& a : call.arguments) {
      Side& side = sides_[count_];
      side.type = a.type;
      side.to = where && count_ == 0 ? Dtype::kBool : choice.compute;
      if (choice.exact != nullptr && count_ == choice.integer &&
          a.type.elements() == 1) {
        side.to = Dtype::kI64;
        choice_.loop = choice.exact;
      }
      side.convert = converter(a.type.dtype, side.to, *context.loops);
      side.scalar = a.type.elements() == 1;
      side.size = size_of(a.type.dtype);
      side.rounds = a.type.dtype != domain && side.to != Dtype::kBool;
      converts_scalar_ |= side.scalar && side.convert != nullptr;
      converts_ |= !side.scalar && side.convert != nullptr;
      strides.push_back(broadcast_strides(a.type.shape, result_.shape));
      ++count_;
    }
    nest_ = nest_of(result_.shape, strides);
    rows_ = nest_.outer.elements();
    store_ = converter(choice.result, result_.dtype, *context.loops);
    converts_ |= store_ != nullptr;
    least_ = kWorthAThread / (choice.costly ? 32 : 8);
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    if (n_ == 0) return ok_status();
    Operands operands;
    for (size_t k = 0; k < count_; ++k) operands.at[k] = in[k];
    if (converts_scalar_) load_scalars(in, operands);
    const void* const* at = operands.at.data();
    const char* wrong = nullptr;
    if (rows_ == 1 && !converts_ && n_ < 2 * least_) {
      wrong = choice_.loop(at, nest_.repeat.data(), out[0], n_);
    } else {
      wrong = run_parts(at, out[0]);
    }
    if (wrong != nullptr) return Error{wrong};
    return ok_status();
  }

  bool in_place(size_t operand, size_t /*result*/) const override {
    return operand < count_ && sides_[operand].type == result_;
  }

  // ---- Tiled
  int64_t fusible_elements() const override {
    return rows_ == 1 && is_float(choice_.compute) && choice_.exact == nullptr
               ? n_
               : 0;
  }
  int64_t operand_size(size_t k) const override {
    return sides_[k].scalar ? 0 : static_cast<int64_t>(sides_[k].size);
  }
  int64_t result_size() const override {
    return static_cast<int64_t>(size_of(result_.dtype));
  }
  int64_t least() const override { return least_; }
  void load_scalars(std::span<const void* const> in,
                    Operands& operands) const override {
    for (size_t k = 0; k < count_; ++k) {
      const Side& side = sides_[k];
      if (side.scalar) operands.at[k] = in[k];
      if (!side.scalar || side.convert == nullptr) continue;
      double& scalar = operands.scalars[k];
      operands.at[k] = &scalar;
      if (!is_float(side.type.dtype) && !is_half(round_)) {
        side.convert(in[k], &scalar, 1);
        continue;
      }
      const double x = load_real(side.type.dtype, in[k], 0);
      store_real(side.to, &scalar, 0, side.rounds ? round_real(round_, x) : x);
    }
  }
  void run_tile(const void* const* operands, void* out,
                int64_t n) const override {
    if (!converts_) {
      (void)choice_.loop(operands, nest_.repeat.data(), out, n);
    } else {
      (void)run_blocks(operands, static_cast<char*>(out), n);
    }
  }

 private:
  struct Side {
    Type type;
    Dtype to = Dtype::kF32;
    Convert convert = nullptr;
    bool scalar = false;
    bool rounds = false;
    size_t size = 4;
  };

  const char* run_parts(const void* const* at, void* out) const {
    std::atomic<const char*> wrong = nullptr;
    const auto keep = [&wrong](const char* w) {
      if (w != nullptr) wrong = w;
    };
    if (rows_ == 1) {
      in_parallel(threads_, n_, least_, [&](int64_t begin, int64_t end) {
        const int64_t first[kMost] = {begin, begin, begin};
        keep(run_row(at, first, out, begin, end - begin));
      });
      return wrong;
    }
    const int64_t least = std::max<int64_t>(1, least_ / nest_.inner);
    in_parallel(threads_, rows_, least, [&](int64_t begin, int64_t end) {
      Walk<kMost> walk(nest_.outer, nest_.strides);
      walk.seek(begin);
      for (int64_t r = begin; r < end; ++r, walk.next()) {
        const int64_t first[kMost] = {walk[0], walk[1], walk[2]};
        keep(run_row(at, first, out, r * nest_.inner, nest_.inner));
      }
    });
    return wrong;
  }

  // Runs one row, in which operand k is read from element first[k] on, or is
  // one value.
  const char* run_row(const void* const* at, const int64_t* first, void* out,
                      int64_t to, int64_t n) const {
    const void* x[kMost];
    for (size_t k = 0; k < count_; ++k) {
      const bool moves = !sides_[k].scalar;
      x[k] = moves ? element(at[k], first[k], sides_[k].size) : at[k];
    }
    char* y = static_cast<char*>(out) + to * size_of(result_.dtype);
    if (!converts_) return choice_.loop(x, nest_.repeat.data(), y, n);
    return run_blocks(x, y, n);
  }

  const char* run_blocks(const void* const* x, char* y, int64_t n) const {
    alignas(64) char block[kMost + 1][kBlock * sizeof(double)];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = std::min(kBlock, n - i);
      const void* at[kMost];
      for (size_t k = 0; k < count_; ++k) {
        const Side& side = sides_[k];
        const bool repeat = nest_.repeat[k];
        at[k] = repeat ? x[k] : element(x[k], i, side.size);
        if (side.convert == nullptr || side.scalar) continue;
        side.convert(at[k], block[k], repeat ? 1 : m);
        at[k] = block[k];
      }
      char* to = y + i * size_of(result_.dtype);
      char* made = store_ != nullptr ? block[kMost] : to;
      const char* wrong =
          loop_for(x, i, m, at)(at, nest_.repeat.data(), made, m);
      if (wrong != nullptr) return wrong;
      if (store_ != nullptr) store_(made, to, m);
    }
    return nullptr;
  }

  // Returns the loop for m elements from i on. Where f64 does not hold the
  // integers of a comparison with floats, it takes them as they are.
  Loop loop_for(const void* const* x, int64_t i, int64_t m,
                const void** at) const {
    const size_t k = choice_.integer;
    if (choice_.exact == nullptr || sides_[k].scalar) return choice_.loop;
    const bool repeat = nest_.repeat[k];
    const void* own = repeat ? x[k] : element(x[k], i, sides_[k].size);
    const auto* integers = static_cast<const int64_t*>(own);
    if (!any_beyond_f64_(integers, repeat ? 1 : m)) {
      return choice_.loop;
    }
    at[k] = own;
    return choice_.exact;
  }

  static const void* element(const void* data, int64_t i, size_t size) {
    return static_cast<const char*>(data) + i * size;
  }

  Choice choice_;
  bool (*any_beyond_f64_)(const int64_t*, int64_t);
  int threads_;
  Type result_;
  int64_t n_;
  int64_t rows_ = 1;
  int64_t least_ = 1;
  size_t count_ = 0;
  std::array<Side, kMost> sides_;
  Nest nest_;
  Dtype round_ = Dtype::kF32;
  Convert store_ = nullptr;
  bool converts_scalar_ = false;
  bool converts_ = false;
};

std::unique_ptr<Kernel> cpu_pointwise(const Call& call,
                                      const Context& context) {
  const Choice choice = choose(call, *context.loops);
  if (choice.loop == nullptr) return nullptr;
  return std::make_unique<Pointwise>(call, context, choice);
}

class Cast final : public Tiled {
 public:
  Cast(const Call& call, const Context& context)
      : convert_(converter(call.type(0).dtype, call.results[0].dtype,
                           *context.loops)),
        from_(size_of(call.type(0).dtype)),
        to_(size_of(call.results[0].dtype)),
        n_(call.results[0].elements()),
        threads_(context.threads) {}

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    in_parallel(threads_, n_, kWorthAThread / 8,
                [&](int64_t begin, int64_t end) {
                  const char* x = static_cast<const char*>(in[0]);
                  char* y = static_cast<char*>(out[0]);
                  convert_(x + begin * from_, y + begin * to_, end - begin);
                });
    return ok_status();
  }

  // ---- Tiled
  int64_t fusible_elements() const override { return n_; }
  int64_t operand_size(size_t /*k*/) const override {
    return static_cast<int64_t>(from_);
  }
  int64_t result_size() const override { return static_cast<int64_t>(to_); }
  int64_t least() const override { return kWorthAThread / 8; }
  void load_scalars(std::span<const void* const> /*in*/,
                    Operands& /*operands*/) const override {}
  void run_tile(const void* const* operands, void* out,
                int64_t n) const override {
    convert_(operands[0], out, n);
  }

 private:
  Convert convert_;
  size_t from_, to_;
  int64_t n_;
  int threads_;
};

std::unique_ptr<Kernel> cpu_cast(const Call& call, const Context& context) {
  if (call.type(0).dtype == call.results[0].dtype) return nullptr;
  return std::make_unique<Cast>(call, context);
}

}  // namespace

std::span<const KernelRow> pointwise_kernels() {
  static const std::vector<KernelRow> rows = [] {
    std::vector<KernelRow> all{{"cast", cpu_cast}};
    const auto add = [&all](const char* op) {
      for (const KernelRow& row : all) {
        if (std::string_view(row.op) == op) return;
      }
      all.push_back({op, cpu_pointwise});
    };
    const Loops& loops = base_loops();
    for (size_t i = 0; i < loops.pointwise_count; ++i) {
      add(loops.pointwise[i].op);
    }
    for (const IntegerRow& row : integer_rows()) add(row.op);
    return all;
  }();
  return rows;
}

}  // namespace gt::exec::cpu
