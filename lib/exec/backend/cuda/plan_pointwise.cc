// Point-wise ops. Their kernels are made from the text of their formulas
// (lib/exec/backend/formulas.def), so what gets a line there has a kernel here.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/source.h"

namespace gt::exec::cuda {
namespace {

enum class Kind : uint8_t { kReal, kInteger, kBool };
enum class Cost : uint8_t { cheap, costly, dividing, powering };

struct Formula {
  const char* op;
  Kind kind;
  const char* key;  // the value of approximate=
  const char* text;
  Cost cost = Cost::cheap;
};

constexpr Formula kFormulas[] = {
#define GT_REAL(op, key, operands, cost, formula) \
  {#op, Kind::kReal, key, #formula, Cost::cost},
#define GT_INTEGER(op, operands, cost, formula) \
  {#op, Kind::kInteger, "", #formula, Cost::cost},
#define GT_BOOL(op, operands, formula) {#op, Kind::kBool, "", #formula},
#include "exec/backend/formulas.def"
    // Those that the host leaves to its reference.
    {"pow", Kind::kInteger, "", "power(a, b)", Cost::powering},
    {"floor", Kind::kInteger, "", "a"},
    {"ceil", Kind::kInteger, "", "a"},
    {"round", Kind::kInteger, "", "a"},
    {"isfinite", Kind::kInteger, "", "a == a"},
    {"isfinite", Kind::kBool, "", "a == a"},
};
// Any kind; the first operand is a truth.
constexpr const char* kWhere = "a != 0 ? b : c";

const Formula* formula_of(const Call& call, Dtype domain) {
  const Kind kind = is_float(domain)         ? Kind::kReal
                    : domain == Dtype::kBool ? Kind::kBool
                                             : Kind::kInteger;
  for (const Formula& f : kFormulas) {
    if (call.op->name != f.op || f.kind != kind) continue;
    if (kind == Kind::kReal && call.key("approximate") != f.key) continue;
    return &f;
  }
  return nullptr;
}

// Which b is wrong, in an integer formula.
const char* wrong_test(const Formula& f) {
  if (f.kind != Kind::kInteger) return nullptr;
  if (f.cost == Cost::dividing) return "b == 0";
  return f.cost == Cost::powering ? "b < 0" : nullptr;
}

// A number of dimensions for which there is a kernel, at least `rank`.
size_t kernel_rank(size_t rank) {
  size_t kept = 1;
  while (kept < rank) kept *= 2;
  return kept;
}

// Sizes and strides as Places of text/pointwise.cuh reads them.
size_t write_places(const Joined& joined, Launch& launch) {
  const size_t rank = kernel_rank(joined.sizes.size());
  const size_t lead = rank - joined.sizes.size();
  for (size_t d = 0; d < rank; ++d) {
    launch.n[1 + d] = d < lead ? 1 : joined.sizes[d - lead];
    for (size_t k = 0; k < joined.strides.size(); ++k) {
      launch.n[1 + (k + 1) * rank + d] =
          d < lead ? 0 : joined.strides[k][d - lead];
    }
  }
  return rank;
}

// The dtype an operand is rounded to before the formula is computed.
Dtype rounding_of(const Call& call, Dtype domain) {
  return is_half(domain) && call.results[0].dtype == domain ? Dtype::kF32
                                                            : domain;
}

std::string body_of(const Call& call, const std::string& places, Dtype round,
                    bool is_where, const char* wrong) {
  std::string body =
      "GT_EACH(i, a.n[0]) {\n    const " + places + " at(a, i);\n";
  std::string operands;
  for (size_t k = 0; k < call.arguments.size(); ++k) {
    const Dtype as = is_where && k == 0 ? Dtype::kBool : round;
    body += fmt::format(
        "    const auto x{0} = Operand<{1}, {2}>::at(a, {0}, at[{0}]);\n", k,
        source_of(call, k), word_of(as));
    operands += fmt::format("{}x{}", k > 0 ? ", " : "", k);
  }
  if (wrong != nullptr) {
    body +=
        "    if (wrong(x0, x1)) {\n      fault(a, i);\n      continue;\n"
        "    }\n";
  }
  return body +
         fmt::format("    out<{0}>(a, 0)[i] = result<{0}>(formula({1}));\n  }}",
                     word_of(call.results[0].dtype), operands);
}

std::string declarations_of(size_t operands, const char* formula, bool is_where,
                            const char* wrong) {
  constexpr const char* kParameters[] = {"V a", "V a, V b", "V a, V b, V c"};
  std::string text = fmt::format(
      "template <typename V>\ninline auto formula({}) {{\n  return {};\n}}\n",
      is_where ? "int a, V b, V c" : kParameters[operands - 1], formula);
  if (wrong != nullptr) {
    text += fmt::format(
        "template <typename V>\ninline bool wrong(V a, V b) {{\n  (void)a;\n"
        "  return {};\n}}\n",
        wrong);
  }
  return text;
}

}  // namespace

std::optional<Plan> pointwise_plan(const Call& call) {
  const bool is_where = call.op->name == "where";
  if (call.results.size() != 1 || call.arguments.empty() ||
      call.arguments.size() > 3) {
    return std::nullopt;
  }
  const Dtype domain = domain_of(call);
  const Formula* f = is_where ? nullptr : formula_of(call, domain);
  if (f == nullptr && !is_where) return std::nullopt;
  const char* wrong = f == nullptr ? nullptr : wrong_test(*f);

  const Type& type = call.results[0];
  std::vector<Strides> strides;
  for (const Argument& a : call.arguments) {
    strides.push_back(broadcast_strides(a.type.shape, type.shape));
  }
  Launch launch = each_launch({}, type.elements());
  const size_t rank =
      write_places(join_dimensions(type.shape, strides), launch);
  const bool is_small = type.elements() < int64_t{1} << 31;
  const std::string places =
      fmt::format("Places<{}, {}, {}>", is_small ? "uint32_t" : "uint64_t",
                  rank, call.arguments.size());
  launch.source = make_source(
      "pointwise.cuh",
      body_of(call, places, rounding_of(call, domain), is_where, wrong),
      declarations_of(call.arguments.size(), is_where ? kWhere : f->text,
                      is_where, wrong));

  Plan plan;
  for (size_t k = 0; k < call.arguments.size(); ++k) {
    launch.in.push_back(operand(k));
    if (!call.arguments[k].literal && call.type(k) == type) {
      plan.in_place.emplace_back(k, 0);
    }
  }
  launch.out = {result(0)};
  plan.steps.emplace_back(std::move(launch));
  if (wrong != nullptr) {
    const bool divides = f->cost == Cost::dividing;
    plan.explain = [divides](int64_t, const Peek&) {
      return Error{divides ? "integer division by zero"
                           : "integer to a negative power"};
    };
  }
  return plan;
}

}  // namespace gt::exec::cuda
