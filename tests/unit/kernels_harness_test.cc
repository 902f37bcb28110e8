#include "kernels_harness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/element.h"
#include "exec/backend/philox.h"
#include "exec/backend/ref/ref.h"
#include "ops/table.h"
#include "ops/text.h"

namespace gt::exec {
namespace {

// The data of the operands, as a kernel wants them.
class Arguments {
 public:
  Arguments(const Call& call, const std::vector<const Tensor*>& operands)
      : literals_(call.arguments.size()) {
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Argument& a = call.arguments[i];
      in.push_back(operands[i] == nullptr ? nullptr : operands[i]->data.data());
      if (!a.literal) continue;
      literals_[i] = a.number;
      in[i] = a.type.dtype == Dtype::kF64
                  ? static_cast<const void*>(&literals_[i].real)
                  : &literals_[i].integer;
    }
  }
  std::vector<const void*> in;

 private:
  std::vector<Number> literals_;
};

// The byte after each result must stay as it is.
constexpr char kGuard = 0x5a;

Result<std::vector<Tensor>> run_kernel(
    Kernel& kernel, const Call& call,
    const std::vector<const Tensor*>& operands) {
  const Arguments arguments(call, operands);
  std::vector<Tensor> results;
  for (const Type& type : call.results) results.emplace_back(type);
  std::vector<void*> out;
  for (Tensor& t : results) {
    std::memset(t.data.data(), kGuard, t.data.size());
    out.push_back(t.data.data());
  }
  const Status s = kernel.run(arguments.in, out);
  if (!s.ok()) return s.error();
  for (const Tensor& t : results) EXPECT_EQ(t.data.back(), kGuard);
  return results;
}

// The tensors that the call's operands name; null for an operand that is not a
// name.
std::vector<const Tensor*> operands_of(const Call& call, const Tensors& names) {
  std::vector<const Tensor*> operands;
  for (const Argument& a : call.arguments) {
    const bool named = a.role == Role::kTensor && !a.absent && !a.literal;
    operands.push_back(named ? &names.find(a.text)->second : nullptr);
  }
  return operands;
}

TypeMap types_of(const Tensors& names) {
  TypeMap types;
  for (const auto& [name, tensor] : names) types[name] = tensor.type;
  return types;
}

std::string name_of(const Ref& ref) {
  switch (ref.kind) {
    case Ref::Kind::kOperand:
      return "o" + std::to_string(ref.index);
    case Ref::Kind::kResult:
      return "r" + std::to_string(ref.index);
    default:
      return "t" + std::to_string(ref.index);
  }
}

std::string text_of(const Step& step) {
  std::string line;
  for (const Ref& ref : step.results) line += name_of(ref) + " ";
  line += "= " + step.op->name;
  for (const StepOperand& operand : step.operands) {
    line += " " + (operand.is_ref ? name_of(operand.ref) : operand.text);
  }
  for (const auto& [key, value] : step.keys) line += " " + key + "=" + value;
  return line;
}

Result<std::vector<Tensor>> expand(Backend& backend, const Call& call,
                                   const std::vector<const Tensor*>& operands) {
  Tensors names;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] != nullptr) names["o" + std::to_string(i)] = *operands[i];
  }
  for (const Step& step : expansion_steps(call)) {
    auto results = evaluate(backend, text_of(step), names);
    if (!results.ok()) return results.error();
    for (size_t r = 0; r < step.results.size(); ++r) {
      names[name_of(step.results[r])] = results.value()[r];
    }
  }
  std::vector<Tensor> results;
  for (size_t r = 0; r < call.result_count; ++r) {
    results.push_back(names.at("r" + std::to_string(r)));
  }
  return results;
}

}  // namespace

double Tensor::real(int64_t i) const {
  return load_real(type.dtype, data.data(), i);
}
void Tensor::set(int64_t i, double value) {
  store_real(type.dtype, data.data(), i, value);
}

Result<std::vector<Tensor>> evaluate(Backend& backend, const std::string& line,
                                     const Tensors& names) {
  Bound bound(line, types_of(names));
  if (!bound.status().ok()) return bound.error();
  Call& call = bound.call();
  const std::vector<const Tensor*> operands = operands_of(call, names);
  if (call.op->row->alias) {
    Tensor same = *operands[0];
    same.type = call.results[0];
    return std::vector<Tensor>{same};
  }
  if (const auto kernel = backend.prepare(call)) {
    return run_kernel(*kernel, call, operands);
  }
  if (call.op->is_primitive()) {
    return Error{"no kernel for the primitive " + call.op->name};
  }
  return expand(backend, call, operands);
}

int check_in_place(Backend& backend, const std::string& line,
                   const Tensors& names) {
  Bound bound(line, types_of(names));
  if (!bound.status().ok()) return 0;
  Call& call = bound.call();
  const auto kernel = call.op->row->alias ? nullptr : backend.prepare(call);
  if (kernel == nullptr) return 0;
  const std::vector<const Tensor*> operands = operands_of(call, names);
  const auto wanted = run_kernel(*kernel, call, operands);
  if (!wanted.ok()) return 0;
  int replaced = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t r = 0; r < call.results.size(); ++r) {
      if (operands[i] == nullptr || !kernel->in_place(i, r)) continue;
      ++replaced;
      Tensor shared = *operands[i];
      std::vector<const Tensor*> changed = operands;
      changed[i] = &shared;
      const Arguments arguments(call, changed);
      std::vector<Tensor> results;
      for (const Type& type : call.results) results.emplace_back(type);
      std::vector<void*> out;
      for (Tensor& t : results) out.push_back(t.data.data());
      out[r] = shared.data.data();
      EXPECT_TRUE(kernel->run(arguments.in, out).ok()) << line;
      shared.type = call.results[r];
      EXPECT_TRUE(same_bits(shared, wanted.value()[r]))
          << line << ": result " << r << " over operand " << i;
    }
  }
  return replaced;
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (!(a.type == b.type)) return false;
  const size_t size = size_of(a.type.dtype);
  for (int64_t i = 0; i < a.type.elements(); ++i) {
    const size_t at = static_cast<size_t>(i) * size;
    if (std::memcmp(&a.data[at], &b.data[at], size) == 0) continue;
    if (is_float(a.type.dtype) && std::isnan(a.real(i)) &&
        std::isnan(b.real(i))) {
      continue;
    }
    return false;
  }
  return true;
}

namespace {

// The distance of two neighbouring numbers at a magnitude.
double unit_at(Dtype dtype, double magnitude) {
  const int digits = traits(dtype).digits;
  const int least = dtype == Dtype::kF16   ? -24
                    : dtype == Dtype::kF64 ? -1074
                                           : -149;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  if (magnitude == 0) exponent = -2000;
  return std::ldexp(1.0, std::max(exponent - digits, least));
}

double one_distance(Dtype dtype, double y, double wanted, double magnitude) {
  const double w = round_real(dtype, wanted);
  if (y == w || (std::isnan(y) && std::isnan(w))) return 0;
  // A number may overflow one rounding too early.
  const double most = dtype == Dtype::kF16 ? 65504 : 3.4e38;
  if (std::isinf(y) && std::abs(wanted) > most * 0.99 && y * w > 0) return 1;
  if (!std::isfinite(y) || !std::isfinite(w)) return HUGE_VAL;
  return std::abs(y - wanted) / unit_at(dtype, magnitude);
}

}  // namespace

double distance(const Tensor& y, const Tensor& wanted, bool norm) {
  if (!(y.type.shape == wanted.type.shape)) return HUGE_VAL;
  double largest = 0;
  const int64_t n = y.type.elements();
  for (int64_t i = 0; i < n; ++i) {
    const double w = std::abs(wanted.real(i));
    if (std::isfinite(w)) largest = std::max(largest, w);
  }
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double w = wanted.real(i);
    const double magnitude = norm ? largest : std::abs(w);
    const Dtype dtype = y.type.dtype;
    const double d = is_float(dtype)
                         ? one_distance(dtype, y.real(i), w, magnitude)
                         : (y.real(i) == w ? 0 : HUGE_VAL);
    worst = std::max(worst, d);
  }
  return worst;
}

std::string fill_in(std::string_view text, const Names& names) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      out += text[i];
      continue;
    }
    const char name = text[++i];
    if (name == 'T') {
      out += names.dtype;
    } else if (name == 'L') {
      out += names.dtype == "f64" ? "f64" : "f32";
    } else {
      out += std::to_string(names.sizes.at(name));
    }
  }
  return out;
}

namespace {

double random_value(Dtype dtype, std::string_view range, uint64_t seed,
                    uint64_t i) {
  const uint64_t word = philox::word(seed, i);
  if (range == "<1") return philox::uniform(word, 8) * 0.98 + 0.01;
  if (range.starts_with('<')) {
    const int64_t below = std::stoll(std::string(range.substr(1)));
    return below == 0 ? 0 : static_cast<double>(word % below);
  }
  const bool positive = range == ">0";
  if (!is_float(dtype)) {
    if (dtype == Dtype::kBool) return word % 2 == 0 ? 0 : 1;
    const auto small = static_cast<double>(word % 10);
    return positive ? small + 1 : dtype == Dtype::kU8 ? small : small - 5;
  }
  if (positive) return philox::uniform(word, 24) * 4 + 0.05;
  if (word % 13 == 0) return word % 2 == 0 ? 0.0 : -0.0;
  return philox::normal(philox::pair(seed, i)).cos * 2;
}

}  // namespace

Tensors random_tensors(std::string_view operands, const Names& names,
                       uint64_t seed) {
  std::string text = fill_in(operands, names);
  std::string types;
  std::map<std::string, std::string> ranges;
  for (size_t at = 0; at < text.size();) {
    const size_t blank = text.find(' ', at);
    const size_t end = std::min(text.find(' ', blank + 1), text.size());
    const std::string name = text.substr(at, blank - at);
    std::string type = text.substr(blank + 1, end - blank - 1);
    const size_t close = type.find(']') + 1;
    ranges[name] = type.substr(close);
    types += (types.empty() ? "" : " ") + name + " " + type.substr(0, close);
    at = end + 1;
  }
  Tensors tensors;
  for (const auto& [name, type] : parse_types(types)) {
    Tensor t(type);
    ++seed;
    for (int64_t i = 0; i < type.elements(); ++i) {
      t.set(i, random_value(type.dtype, ranges[name], seed,
                            static_cast<uint64_t>(i)));
    }
    tensors[name] = t;
  }
  return tensors;
}

Tensors widened(const Tensors& tensors) {
  Tensors wide;
  for (const auto& [name, tensor] : tensors) {
    if (!is_float(tensor.type.dtype)) {
      wide[name] = tensor;
      continue;
    }
    Tensor t(Type{Dtype::kF64, tensor.type.shape});
    for (int64_t i = 0; i < t.type.elements(); ++i) t.set(i, tensor.real(i));
    wide[name] = t;
  }
  return wide;
}

std::unique_ptr<Backend> backend_for_test(std::string_view name,
                                          const BackendOptions& options) {
  if (name == "ref") return make_ref_backend(options);
  auto made = make_cpu_backend(options);
  GT_CHECK(made.ok());
  return std::move(made.value());
}

std::vector<std::string> isas_for_test() {
  std::vector<std::string> isas;
  for (const char* isa : {"", "avx512", "avx2", "sse2"}) {
    if (make_cpu_backend({1, isa}).ok()) isas.push_back(isa);
  }
  return isas;
}

std::vector<std::string> dtypes_of(const KernelCase& c) {
  static const std::map<std::string_view, std::string> groups = {
      {"float", "f32 f64 f16 bf16"},
      {"int", "i64 i32 u8"},
      {"number", "f32 f64 f16 bf16 i64 i32 u8"},
      {"all", "f32 f64 f16 bf16 i64 i32 u8 bool"}};
  std::vector<std::string> dtypes;
  std::istringstream words(c.dtypes);
  for (std::string word; words >> word;) {
    const auto group = groups.find(word);
    std::istringstream members(group == groups.end() ? word : group->second);
    for (std::string dtype; members >> dtype;) dtypes.push_back(dtype);
  }
  return dtypes;
}

TEST(KernelHarness, MeasuresInUnitsInTheLastPlace) {
  Tensor y(Type{Dtype::kF32, {2}});
  Tensor w(Type{Dtype::kF64, {2}});
  y.set(0, 1 + 0x1p-22);
  w.set(0, 1);
  EXPECT_EQ(distance(y, w, false), 2);
  y.set(1, 0x1p-23);
  w.set(1, 0);
  EXPECT_GT(distance(y, w, false), 1e6);
  EXPECT_EQ(distance(y, w, true), 2);
  y.set(0, NAN);
  EXPECT_EQ(distance(y, w, true), HUGE_VAL);
}

}  // namespace gt::exec
