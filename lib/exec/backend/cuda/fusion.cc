// The texts of fused kernels are made from the formulas of
// lib/exec/backend/formulas.def, so what gets a line there has a kernel here.
#include "exec/backend/cuda/fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "exec/backend/cuda/source.h"
#include "exec/backend/philox.h"
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

// Which b is wrong, in an integer formula.
const char* wrong_test(const Formula& f) {
  if (f.kind != Kind::kInteger) return nullptr;
  if (f.cost == Cost::dividing) return "b == 0";
  return f.cost == Cost::powering ? "b < 0" : nullptr;
}

// The dtype an operand is rounded to before the formula is computed.
Dtype rounding_of(const Call& call, Dtype domain) {
  return is_half(domain) && call.results[0].dtype == domain ? Dtype::kF32
                                                            : domain;
}

// A number of dimensions for which there is a kernel, at least `rank`.
size_t kernel_rank(size_t rank) {
  size_t kept = 1;
  while (kept < rank) kept *= 2;
  return kept;
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
  if (call.results.size() != 1 || arguments.empty() || arguments.size() > 3) {
    return std::nullopt;
  }
  const Formula* f = is_where(call) ? nullptr : formula_of(call);
  if (f == nullptr && !is_where(call)) return std::nullopt;
  Value v;
  v.type = call.results[0];
  v.formula = f == nullptr ? kWhere : f->text;
  v.wrong = f == nullptr ? nullptr : wrong_test(*f);
  v.operands.assign(arguments.begin(), arguments.end());
  v.rounds.assign(arguments.size(), rounding_of(call, domain_of(call)));
  if (is_where(call)) v.rounds[0] = Dtype::kBool;
  values_.push_back(std::move(v));
  return values_.size() - 1;
}

std::vector<Fusion::Id> Fusion::needed(std::span<const Id> ids) const {
  const Id last = *std::max_element(ids.begin(), ids.end());
  std::vector<bool> is_needed(last + 1, false);
  for (const Id id : ids) is_needed[id] = true;
  for (Id v = last + 1; v-- > 0;) {  // what a value is made of comes before it
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

// A launch in the making, and its text.
class Fusion::Kernel {
 public:
  // `ids`: all that the results need, they included.
  Kernel(const std::vector<Value>& values, std::vector<Id> ids,
         std::span<const Id> results)
      : values_(values),
        ids_(std::move(ids)),
        results_(results.begin(), results.end()),
        type_(values.at(results_[0]).type) {}

  // None if a launch cannot carry what is needed.
  std::optional<Launch> make(std::span<const Slot> to);

 private:
  const Value& value(Id id) const { return values_[id]; }
  // Names are counted within the kernel, so that one text serves all.
  std::string name(Id id) const {
    const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    return fmt::format("v{}", at - ids_.begin());
  }
  int64_t stride(size_t operand, size_t d) const {
    return n_[1 + (operand + 1) * rank_ + d];
  }

  bool add_operands();
  void choose_pack();
  void add_cast(Id id);
  bool add_rand(Id id);
  bool add_formula(Id id);
  std::string rounded_operands(const Value& v) const;
  std::string declarations() const;
  std::string operand_text(size_t k) const;
  template <typename Operand, typename To>
  std::string call_element(const std::string& at, const Operand& operand,
                           const To& to) const;
  std::string_view result_word(size_t r) const {
    return word_of(value(results_[r]).type.dtype);
  }
  std::string body() const;

  const std::vector<Value>& values_;
  std::vector<Id> ids_;
  std::vector<Id> results_;
  const Type& type_;          // of the first result, as all have its shape
  std::vector<Id> operands_;  // that are read
  std::vector<std::string> sources_;  // of each: "In<f32>"
  std::vector<bool> along_;  // whether its elements lie side by side in a pack
  size_t rank_ = 0;
  size_t dimensions_ = 0;  // that there are of these
  std::array<int64_t, kNumbers> n_{};
  size_t used_ = 0;         // of n_
  int64_t pack_ = 1;        // elements that a thread takes at once
  std::string places_;      // a type of text/pointwise.cuh
  std::string formulas_;    // functions
  std::string statements_;  // for one element
};

// Sizes and strides are written as Places of text/pointwise.cuh reads them.
bool Fusion::Kernel::add_operands() {
  std::vector<Strides> strides;
  for (const Id id : ids_) {
    const Value& v = value(id);
    if (v.home == Home::kComputed) continue;
    operands_.push_back(id);
    sources_.push_back(instance(v.home == Home::kNumber ? "Literal" : "In",
                                {word_of(v.type.dtype)}));
    strides.push_back(broadcast_strides(v.type.shape, type_.shape));
  }
  const Joined joined = join_dimensions(type_.shape, strides);
  dimensions_ = joined.sizes.size();
  rank_ = kernel_rank(dimensions_);
  used_ = 1 + rank_ * (1 + operands_.size());
  if (operands_.size() > kIn || used_ > kNumbers) return false;
  n_[0] = type_.elements();
  const size_t lead = rank_ - dimensions_;
  for (size_t d = 0; d < rank_; ++d) {
    n_[1 + d] = d < lead ? 1 : joined.sizes[d - lead];
    for (size_t k = 0; k < operands_.size(); ++k) {
      n_[1 + (k + 1) * rank_ + d] = d < lead ? 0 : joined.strides[k][d - lead];
    }
  }
  const bool is_small = n_[0] < int64_t{1} << 31;
  places_ =
      fmt::format("Places<{}, {}, {}>", is_small ? "uint32_t" : "uint64_t",
                  rank_, std::max<size_t>(1, operands_.size()));
  return true;
}

// Packs lie along the last dimension, where every operand's elements lie side
// by side or are one. A result of one dimension may have a rest.
void Fusion::Kernel::choose_pack() {
  size_t smallest = size_of(type_.dtype);
  for (const Id id : results_) {
    smallest = std::min(smallest, size_of(value(id).type.dtype));
  }
  for (const Id id : operands_) {
    if (value(id).home == Home::kNumber) continue;
    smallest = std::min(smallest, size_of(value(id).type.dtype));
  }
  const int64_t pack =
      std::clamp<int64_t>(static_cast<int64_t>(16 / smallest), 2, 8);
  bool fits = dimensions_ < 2 || n_[rank_] % pack == 0;
  for (size_t k = 0; k < operands_.size(); ++k) {
    const int64_t last = stride(k, rank_ - 1);
    along_.push_back(last == 1);
    fits = fits && (last == 1 || last == 0);
    for (size_t d = 0; d + 1 < rank_; ++d) {
      fits = fits && (last == 0 || stride(k, d) % pack == 0);
    }
  }
  if (fits) pack_ = pack;
}

// A value of the same dtype is handed on as it is, so that a nan keeps its
// bits.
void Fusion::Kernel::add_cast(Id id) {
  const Value& v = value(id);
  const std::string of = name(v.operands[0]);
  const auto word = word_of(v.type.dtype);
  const bool same = value(v.operands[0]).type.dtype == v.type.dtype &&
                    value(v.operands[0]).home != Home::kNumber;
  statements_ +=
      fmt::format("  const {} {} = {};\n", word, name(id),
                  same ? of : fmt::format("to<{}>(widen({}))", word, of));
}

bool Fusion::Kernel::add_rand(Id id) {
  const Value& v = value(id);
  if (v.type.shape != type_.shape ||
      used_ + 2 + 2 * v.type.shape.size() > kNumbers) {
    return false;
  }
  statements_ += fmt::format(
      "  const {0} {1} =\n      uniform<{0}, {2}>({3}, a.n[{4}] + place(a.n + "
      "{5}, i));\n",
      word_of(v.type.dtype), name(id), philox::digits_of(v.type.dtype),
      name(v.operands[0]), used_, used_ + 1);
  n_[used_] = v.first;
  used_ = static_cast<size_t>(
      write_place(n_.data() + used_ + 1, v.type.shape, v.whole) - n_.data());
  return true;
}

std::string Fusion::Kernel::rounded_operands(const Value& v) const {
  std::string text;
  for (size_t k = 0; k < v.operands.size(); ++k) {
    text += fmt::format("{}As<{}>::of({})", k > 0 ? ", " : "",
                        word_of(v.rounds[k]), name(v.operands[k]));
  }
  return text;
}

bool Fusion::Kernel::add_formula(Id id) {
  const Value& v = value(id);
  constexpr const char* kParameters[] = {"V a", "V a, V b", "V a, V b, V c"};
  formulas_ += fmt::format(
      "template <typename V>\ninline auto formula_{}({}) {{\n  return "
      "{};\n}}\n",
      name(id),
      v.formula == kWhere ? "int a, V b, V c"
                          : kParameters[v.operands.size() - 1],
      v.formula);
  const std::string operands = rounded_operands(v);
  if (v.wrong != nullptr) {
    // Which operand is wrong is known of the kernel's only op alone.
    if (id != operands_.size() || ids_.back() != id || results_.size() > 1) {
      return false;
    }
    formulas_ += fmt::format(
        "template <typename V>\ninline bool wrong(V a, V b) {{\n  (void)a;\n"
        "  return {};\n}}\n",
        v.wrong);
    statements_ += fmt::format(
        "  if (wrong({})) {{\n    fault(a, i);\n    return;\n  }}\n", operands);
  }
  statements_ +=
      fmt::format("  const {0} {1} = result<{0}>(formula_{1}({2}));\n",
                  word_of(v.type.dtype), name(id), operands);
  return true;
}

// Result r where it is one element.
std::string y_of(size_t r) { return r == 0 ? "y" : fmt::format("y{}", r); }

// The formulas, and a function that computes one element of them all.
std::string Fusion::Kernel::declarations() const {
  std::string parameters = "const Args& a, int64_t i";
  for (const Id id : operands_) {
    parameters +=
        fmt::format(", {} {}", word_of(value(id).type.dtype), name(id));
  }
  std::string ends;
  for (size_t r = 0; r < results_.size(); ++r) {
    parameters += fmt::format(", {}& {}", result_word(r), y_of(r));
    ends += fmt::format("  {} = {};\n", y_of(r), name(results_[r]));
  }
  return fmt::format(
      "{}inline void element({}) {{\n  (void)a;\n  (void)i;\n{}{}}}\n",
      formulas_, parameters, statements_, ends);
}

std::string Fusion::Kernel::operand_text(size_t k) const {
  return fmt::format("{}::at(a, {}, at[{}])", sources_[k], k, k);
}

// A statement that computes an element, of the operands that operand(k) names,
// as the results that to(r) does.
template <typename Operand, typename To>
std::string Fusion::Kernel::call_element(const std::string& at,
                                         const Operand& operand,
                                         const To& to) const {
  std::string text = "element(a, " + at;
  for (size_t k = 0; k < operands_.size(); ++k) text += ", " + operand(k);
  for (size_t r = 0; r < results_.size(); ++r) text += ", " + to(r);
  return text + ");\n";
}

// By packs where all addresses let them be loaded at once; the rest, or all, an
// element at a time.
std::string Fusion::Kernel::body() const {
  const auto one = [&](size_t k) { return operand_text(k); };
  const std::string single =
      fmt::format("const {} at(a, i);\n    ", places_) +
      call_element("i", one, [&](size_t r) {
        return fmt::format("out<{}>(a, {})[i]", result_word(r), r);
      });
  if (pack_ == 1) {
    return fmt::format("GT_EACH(i, a.n[0]) {{\n    {}  }}", single);
  }
  std::string addresses;
  std::string results;
  std::string stores;
  for (size_t r = 0; r < results_.size(); ++r) {
    addresses += fmt::format("{}a.out[{}]", r > 0 ? " | " : "", r);
    results += fmt::format("    Several<{}, {}> {}{{}};\n", result_word(r),
                           pack_, y_of(r));
    stores += fmt::format("    store_several(a, {}, i, {});\n", r, y_of(r));
  }
  std::string loads;
  for (size_t k = 0; k < operands_.size(); ++k) {
    if (along_[k]) addresses += fmt::format(" | a.in[{}]", k);
    const std::string load =
        along_[k]
            ? fmt::format("load_several<{}, {}>(a, {}, at[{}])",
                          word_of(value(operands_[k]).type.dtype), pack_, k, k)
            : one(k);
    loads += fmt::format("    const auto x{} = {};\n", k, load);
  }
  const std::string many = call_element(
      "i + j",
      [&](size_t k) {
        return "x" + std::to_string(k) + (along_[k] ? ".x[j]" : "");
      },
      [&](size_t r) { return y_of(r) + ".x[j]"; });
  return fmt::format(
      "const int64_t packs = (({0}) & 15) == 0 ? a.n[0] / {1} : 0;\n"
      "  GT_EACH(p, packs) {{\n    const int64_t i = p * {1};\n"
      "    const {2} at(a, i);\n{3}{4}"
      "#pragma unroll\n    for (int j = 0; j < {1}; ++j) {{\n      {5}    }}\n"
      "{7}  }}\n"
      "  GT_EACH(r, a.n[0] - packs * {1}) {{\n"
      "    const int64_t i = packs * {1} + r;\n    {6}  }}",
      addresses, pack_, places_, loads, results, many, single, stores);
}

std::optional<Launch> Fusion::Kernel::make(std::span<const Slot> to) {
  if (to.size() > kOut || !add_operands()) return std::nullopt;
  choose_pack();
  for (const Id id : ids_) {
    if (value(id).home != Home::kComputed) continue;
    switch (value(id).maker) {
      case Maker::kCast:
        add_cast(id);
        break;
      case Maker::kRand:
        if (!add_rand(id)) return std::nullopt;
        break;
      case Maker::kFormula:
        if (!add_formula(id)) return std::nullopt;
        break;
    }
  }
  Launch launch =
      each_launch(make_source("pointwise.cuh", body(), declarations()),
                  (n_[0] + pack_ - 1) / pack_);
  launch.n = n_;
  for (const Id id : operands_) launch.in.push_back(value(id).slot);
  launch.out.assign(to.begin(), to.end());
  return launch;
}

std::optional<Launch> Fusion::launch(std::span<const Id> ids,
                                     std::span<const Slot> to) const {
  return Kernel(values_, needed(ids), ids).make(to);
}

}  // namespace gt::exec::cuda
