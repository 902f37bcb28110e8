// Fusion takes the formulas of ops from lib/exec/backend/formulas.def, so an op
// that gets a line there is fused.
#include "exec/backend/cuda/fusion.h"

#include <algorithm>
#include <array>

#include "ops/part.h"

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
    // These formulas are missing in formulas.def, since the cpu backend leaves
    // these ops to the reference.
    {"pow", Kind::kInteger, "", "power(a, b)", Cost::powering},
    {"floor", Kind::kInteger, "", "a"},
    {"ceil", Kind::kInteger, "", "a"},
    {"round", Kind::kInteger, "", "a"},
    {"isfinite", Kind::kInteger, "", "a == a"},
    {"isfinite", Kind::kBool, "", "a == a"},
};
// `where` selects values of any kind; its first operand is a bool.
constexpr const char* kWhere = "a != 0 ? b : c";

bool is_where(const Call& call) { return call.op->name == "where"; }

const Formula* formula_of(const Call& call) {
  const Dtype domain = domain_of(call);
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

// Returns the test that an integer formula's operand b must not meet; null if
// it has none.
const char* wrong_test(const Formula& f) {
  if (f.kind != Kind::kInteger) return nullptr;
  if (f.cost == Cost::dividing) return "b == 0";
  return f.cost == Cost::powering ? "b < 0" : nullptr;
}

// Returns the dtype that operands are rounded to before the formula is
// computed.
Dtype rounding_of(const Call& call, Dtype domain) {
  return call.results[0].dtype == domain ? traits(domain).computed : domain;
}

}  // namespace

std::function<Error(int64_t, const Peek&)> explain_of(const Call& call) {
  const Formula* f = is_where(call) ? nullptr : formula_of(call);
  if (f == nullptr || wrong_test(*f) == nullptr) return nullptr;
  const bool divides = f->cost == Cost::dividing;
  return [divides](int64_t, const Peek&) {
    return Error{divides ? "integer division by zero"
                         : "integer to a negative power"};
  };
}

Fusion::Id Fusion::add_memory(Type type, Slot slot) {
  Value& v = values_.emplace_back();
  v.home = Home::kMemory;
  v.type = type;
  v.slot = slot;
  return values_.size() - 1;
}

Fusion::Id Fusion::add_number(Type type, Slot slot, std::string text) {
  const Id id = add_memory(type, slot);
  values_[id].home = Home::kNumber;
  values_[id].text = std::move(text);
  return id;
}

void Fusion::set_memory(Id id, const Slot& slot) {
  values_[id].home = Home::kMemory;
  values_[id].slot = slot;
}

std::optional<Fusion::Id> Fusion::add(const Call& call,
                                      std::span<const Id> arguments) {
  if (call.op->name == "rand") {
    Value v;
    v.maker = Maker::kRand;
    v.type = call.results[0];
    const Part part = part_of(call).value();
    v.first = part.first();
    v.whole = strides_of(part.whole);
    if (!call.given(1)) return std::nullopt;
    v.operands = {arguments[1]};
    values_.push_back(std::move(v));
    return values_.size() - 1;
  }
  if (call.op->name == "cast" || call.op->name == "expand") {
    return add_cast(arguments[0], call.results[0]);
  }
  return add_formula(call, arguments);
}

Fusion::Id Fusion::add_cast(Id of, const Type& to) {
  Value v;
  v.maker = Maker::kCast;
  v.type = to;
  v.operands = {of};
  values_.push_back(std::move(v));
  return values_.size() - 1;
}

std::optional<Fusion::Id> Fusion::add_formula(const Call& call,
                                              std::span<const Id> arguments) {
  constexpr const char* kParameters[] = {"V a", "V a, V b", "V a, V b, V c"};
  if (call.results.size() != 1 || arguments.empty() || arguments.size() > 3) {
    return std::nullopt;
  }
  const Formula* f = is_where(call) ? nullptr : formula_of(call);
  if (f == nullptr && !is_where(call)) return std::nullopt;
  if (const auto integer = integer_operand(call)) {
    return add_mixed(call, f->text, *integer, arguments);
  }
  Value v;
  v.type = call.results[0];
  v.formula = f == nullptr ? kWhere : f->text;
  v.parameters =
      f == nullptr ? "int a, V b, V c" : kParameters[arguments.size() - 1];
  v.wrong = f == nullptr ? nullptr : wrong_test(*f);
  v.operands.assign(arguments.begin(), arguments.end());
  v.rounds.assign(arguments.size(), rounding_of(call, domain_of(call)));
  if (is_where(call)) v.rounds[0] = Dtype::kBool;
  if (f != nullptr && f->kind == Kind::kInteger && f->cost == Cost::powering) {
    v.parameters = "V a, Wrap<i64> b";
    v.rounds[1] = Dtype::kI64;  // a scalar may be negative there
  }
  values_.push_back(std::move(v));
  return values_.size() - 1;
}

// A comparison of an i64 with a float is that of their excess and 0.
Fusion::Id Fusion::add_mixed(const Call& call, const char* formula,
                             size_t integer, std::span<const Id> arguments) {
  Value e;
  e.type = {Dtype::kF64, call.results[0].shape};
  e.formula = "excess(a.value, b)";
  e.parameters = "Wrap<i64> a, V b";
  e.operands = {arguments[integer], arguments[1 - integer]};
  e.rounds = {Dtype::kI64, Dtype::kF64};
  values_.push_back(std::move(e));
  Value v;
  v.type = call.results[0];
  v.formula = formula;
  v.parameters = "V a, V b";
  v.operands.assign(2, values_.size() - 1);
  v.operands[1 - integer] = add_number({Dtype::kF64, {}}, number(0.0), "0");
  v.rounds.assign(2, Dtype::kF64);
  values_.push_back(std::move(v));
  return values_.size() - 1;
}

std::vector<Fusion::Id> Fusion::needed(std::span<const Id> ids) const {
  const Id last = *std::max_element(ids.begin(), ids.end());
  std::vector<bool> is_needed(last + 1, false);
  for (const Id id : ids) is_needed[id] = true;
  for (Id v = last + 1; v-- > 0;) {  // the operands of a value come before it
    if (!is_needed[v] || !is_computed(v)) continue;
    for (const Id o : values_[v].operands) is_needed[o] = true;
  }
  std::vector<Id> found;
  for (Id v = 0; v <= last; ++v) {
    if (is_needed[v]) found.push_back(v);
  }
  return found;
}

std::vector<Fusion::Id> Fusion::leaves(Id id) const {
  std::vector<Id> ids = needed({&id, 1});
  std::erase_if(ids, [&](Id v) { return is_computed(v); });
  return ids;
}

Fusion::Id Fusion::add_all(const Fusion& other, Id wanted,
                           std::span<const Id> leaves) {
  std::vector<Id> here(wanted + 1);
  for (const Id v : other.needed({&wanted, 1})) {
    if (!other.is_computed(v)) {
      here[v] = leaves.front();
      leaves = leaves.subspan(1);
      continue;
    }
    here[v] = values_.size();
    Value& made = values_.emplace_back(other.values_[v]);
    for (Id& o : made.operands) o = here[o];
  }
  return here[wanted];
}

size_t Fusion::ops_of(Id id) const {
  const auto ids = needed({&id, 1});
  return static_cast<size_t>(std::count_if(
      ids.begin(), ids.end(), [&](Id v) { return is_computed(v); }));
}

std::optional<Launch> Fusion::launch_reduced(Id reduced,
                                             const Reducing& reducing,
                                             const Launch& first,
                                             std::span<const Id> ids,
                                             std::span<const Slot> to) const {
  std::vector<Id> results = {reduced};
  results.insert(results.end(), ids.begin(), ids.end());
  return FusedKernel(values_, needed(results), results)
      .make_reduced(reducing, first, to);
}

std::optional<ItemLaunch> Fusion::launch_item(std::span<const Id> ids,
                                              std::span<const Slot> to) const {
  return FusedKernel(values_, needed(ids), ids).make_item(to);
}

std::optional<Launch> Fusion::launch(std::span<const Id> ids,
                                     std::span<const Slot> to) const {
  return FusedKernel(values_, needed(ids), ids).make(to);
}

}  // namespace gt::exec::cuda
