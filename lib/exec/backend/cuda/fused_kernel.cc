#include "exec/backend/cuda/fused_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "exec/backend/cuda/source.h"
#include "exec/backend/philox.h"

namespace gt::exec::cuda {
namespace {

// Returns a number of dimensions, at least `rank`, for which a kernel is made.
// There are only a few, so that tensors of several ranks share one.
size_t kernel_rank(size_t rank) {
  size_t kept = 1;
  while (kept < rank) kept *= 2;
  return kept;
}

// The variable that holds one element of result r.
std::string y_of(size_t r) { return r == 0 ? "y" : fmt::format("y{}", r); }

// A statement that stores a pack of result r.
std::string store_pack_text(size_t r, const std::string& y) {
  return fmt::format("    store_several(a, {}, i, {});\n", r, y);
}

}  // namespace

std::string FusedKernel::name(Id id) const {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  return fmt::format("v{}", at - ids_.begin());
}

std::string_view FusedKernel::result_word(size_t r) const {
  return word_of(value(results_[r]).type.dtype);
}

void FusedKernel::name_operands() {
  for (const Id id : ids_) {
    const Value& v = value(id);
    if (v.home == Home::kComputed) continue;
    operands_.push_back(id);
    sources_.push_back(instance(v.home == Home::kNumber ? "Literal" : "In",
                                {word_of(v.type.dtype)}));
  }
}

// Writes sizes and strides where Places of text/pointwise.cuh reads them.
bool FusedKernel::add_operands() {
  name_operands();
  std::vector<Strides> strides;
  for (const Id id : operands_) {
    strides.push_back(broadcast_strides(value(id).type.shape, type_.shape));
  }
  const JoinedDimensions joined = join_dimensions(type_.shape, strides);
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

// Returns how many elements of the smallest dtype fill 16 bytes, but between 2
// and 8.
int64_t FusedKernel::widest_pack() const {
  size_t smallest = size_of(type_.dtype);
  for (const Id id : results_) {
    smallest = std::min(smallest, size_of(value(id).type.dtype));
  }
  for (const Id id : operands_) {
    if (value(id).home == Home::kNumber) continue;
    smallest = std::min(smallest, size_of(value(id).type.dtype));
  }
  return std::clamp<int64_t>(static_cast<int64_t>(16 / smallest), 2, 8);
}

// Chooses packs along the last dimension if each operand's elements lie side by
// side there, or are one repeated element. If the result has one dimension, its
// size need not be a multiple of the pack.
void FusedKernel::choose_pack() {
  const int64_t pack = widest_pack();
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

// A value of the same dtype is passed on unchanged, so that a nan keeps its
// bits.
void FusedKernel::add_cast(Id id) {
  const Value& v = value(id);
  const std::string of = name(v.operands[0]);
  const auto word = word_of(v.type.dtype);
  const bool same = value(v.operands[0]).type.dtype == v.type.dtype &&
                    value(v.operands[0]).home != Home::kNumber;
  statements_ +=
      fmt::format("  const {} {} = {};\n", word, name(id),
                  same ? of : fmt::format("to<{}>(widen({}))", word, of));
}

bool FusedKernel::add_rand(Id id) {
  const Value& v = value(id);
  if (v.type.shape != type_.shape ||
      used_ + 2 + 2 * v.type.shape.size() > kNumbers) {
    return false;
  }
  statements_ += fmt::format(
      "  const {0} {1} =\n      uniform<{0}, {2}>({3}, a.n[{4}] + place(a.n + "
      "{5}, i));\n",
      word_of(v.type.dtype), name(id), traits(v.type.dtype).digits,
      name(v.operands[0]), used_, used_ + 1);
  n_[used_] = v.first;
  used_ = static_cast<size_t>(
      write_place(n_.data() + used_ + 1, v.type.shape, v.whole) - n_.data());
  return true;
}

std::string FusedKernel::rounded_operands(const Value& v) const {
  std::string text;
  for (size_t k = 0; k < v.operands.size(); ++k) {
    text += fmt::format("{}As<{}>::of({})", k > 0 ? ", " : "",
                        word_of(v.rounds[k]), name(v.operands[k]));
  }
  return text;
}

bool FusedKernel::add_formula(Id id) {
  const Value& v = value(id);
  formulas_ += fmt::format(
      "template <typename V>\ninline auto formula_{}({}) {{\n  return "
      "{};\n}}\n",
      name(id), v.parameters, v.formula);
  const std::string operands = rounded_operands(v);
  if (v.wrong != nullptr) {
    // A fault's position is known only if the op is the only one in the kernel.
    if (id != operands_.size() || ids_.back() != id || results_.size() > 1) {
      return false;
    }
    formulas_ += fmt::format(
        "template <typename V, typename W>\ninline bool wrong(V a, W b) {{\n"
        "  (void)a;\n"
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

// Returns the formulas, and a function that computes one element of every
// result.
std::string FusedKernel::declarations() const {
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

std::string FusedKernel::operand_text(size_t k, std::string_view at) const {
  return fmt::format("{}::at(a, {}, {})", sources_[k], k, at);
}

// Returns a statement that computes one element, from the operands that
// operand(k) names, into the results that to(r) names.
template <typename Operand, typename To>
std::string FusedKernel::call_element(const std::string& at,
                                      const Operand& operand,
                                      const To& to) const {
  std::string text = "element(a, " + at;
  for (size_t k = 0; k < operands_.size(); ++k) text += ", " + operand(k);
  for (size_t r = 0; r < results_.size(); ++r) text += ", " + to(r);
  return text + ");\n";
}

// Returns a statement for each operand: it loads pack(k) if the operand's
// elements lie side by side, else one(k).
template <typename PackOf, typename OneOf>
std::string FusedKernel::loads(const PackOf& pack, const OneOf& one) const {
  std::string text;
  for (size_t k = 0; k < operands_.size(); ++k) {
    text += fmt::format("    const auto x{} = {};\n", k,
                        along_[k] ? pack(k) : one(k));
  }
  return text;
}

// Returns text(r, variable of r) for each result r from `first` on, joined.
template <typename Text>
std::string FusedKernel::of_results(size_t first, const Text& text) const {
  std::string all;
  for (size_t r = first; r < results_.size(); ++r) {
    all += text(r, y_of(r));
  }
  return all;
}

// Returns the addresses of all operands and results that are loaded or stored
// as packs, combined by "or" to check their alignment.
std::string FusedKernel::addresses(size_t first_result) const {
  std::vector<std::string> all;
  for (size_t k = 0; k < operands_.size(); ++k) {
    if (along_[k]) all.push_back(fmt::format("a.in[{}]", k));
  }
  for (size_t r = first_result; r < results_.size(); ++r) {
    all.push_back(fmt::format("a.out[{}]", r));
  }
  return all.empty() ? "0" : fmt::format("{}", fmt::join(all, " | "));
}

// Returns a statement that computes element j of the packs.
std::string FusedKernel::packed_element() const {
  return call_element(
      "i + j",
      [&](size_t k) {
        return fmt::format("x{}{}", k, along_[k] ? ".x[j]" : "");
      },
      [](size_t r) { return y_of(r) + ".x[j]"; });
}

std::string FusedKernel::pack_results() const {
  return of_results(0, [&](size_t r, const std::string& y) {
    return fmt::format("    Several<{}, {}> {}{{}};\n", result_word(r), pack_,
                       y);
  });
}

// Works on packs if all addresses are aligned for them; the remaining elements,
// or all, are computed one at a time.
std::string FusedKernel::body() const {
  const auto one = [&](size_t k) {
    return operand_text(k, fmt::format("at[{}]", k));
  };
  const std::string single =
      fmt::format("const {} at(a, i);\n    ", places_) +
      call_element("i", one, [&](size_t r) {
        return fmt::format("out<{}>(a, {})[i]", result_word(r), r);
      });
  if (pack_ == 1) {
    return fmt::format("GT_EACH(i, a.n[0]) {{\n    {}  }}", single);
  }
  const std::string load = loads(
      [&](size_t k) {
        return fmt::format("load_several<{}, {}>(a, {}, at[{}])",
                           word_of(value(operands_[k]).type.dtype), pack_, k,
                           k);
      },
      one);
  return fmt::format(
      "const int64_t packs = (({0}) & 15) == 0 ? a.n[0] / {1} : 0;\n"
      "  GT_EACH(p, packs) {{\n    const int64_t i = p * {1};\n"
      "    const {2} at(a, i);\n{3}{4}"
      "#pragma unroll\n    for (int j = 0; j < {1}; ++j) {{\n      {5}    }}\n"
      "{7}  }}\n"
      "  GT_EACH(r, a.n[0] - packs * {1}) {{\n"
      "    const int64_t i = packs * {1} + r;\n    {6}  }}",
      addresses(0), pack_, places_, load, pack_results(), packed_element(),
      single, of_results(0, store_pack_text));
}

bool FusedKernel::add_statements() {
  for (const Id id : ids_) {
    if (value(id).home != Home::kComputed) continue;
    switch (value(id).maker) {
      case Maker::kCast:
        add_cast(id);
        break;
      case Maker::kRand:
        if (!add_rand(id)) return false;
        break;
      case Maker::kFormula:
        if (!add_formula(id)) return false;
        break;
    }
  }
  return true;
}

std::optional<Launch> FusedKernel::make(std::span<const Slot> to) {
  if (to.size() > kOut || !add_operands()) return std::nullopt;
  choose_pack();
  if (!add_statements()) return std::nullopt;
  Launch launch =
      each_launch(make_source("pointwise.cuh", body(), declarations()),
                  parts_of(n_[0], pack_));
  launch.n = n_;
  for (const Id id : operands_) launch.in.push_back(value(id).slot);
  launch.out.assign(to.begin(), to.end());
  return launch;
}

// ---- items ------------------------------------------------------------------

// Operands and results of the results' shape belong to the item, in the order
// in which they come; operands of one element belong to the launch.
std::string FusedKernel::item_body() const {
  size_t of_item = 0;
  size_t of_launch = 0;
  const std::string load = loads(
      [&](size_t k) {
        return fmt::format("load_item<{}, kWhole, {}>(p.in[{}], i, left)",
                           word_of(value(operands_[k]).type.dtype), pack_,
                           of_item++);
      },
      [&](size_t k) {
        return fmt::format("{}::at(a, {}, 0)", sources_[k], of_launch++);
      });
  const std::string stores = of_results(0, [](size_t r, const std::string& y) {
    return fmt::format("    store_item<kWhole>(p.out[{}], i, left, {});\n", r,
                       y);
  });
  return fmt::format(
      "GT_BLOCKS(b, items.blocks) {{\n  GT_ALONE(t) {{\n"
      "  each_pack<{0}>(items, b, t, [&](const Item& p, int64_t i, int64_t "
      "left, auto is_whole) {{\n"
      "    constexpr bool kWhole = is_whole.value;\n{1}{2}"
      "#pragma unroll\n    for (int j = 0; j < {0}; ++j) {{\n      {3}    }}\n"
      "{4}  }});\n  }}\n  }}",
      pack_, load, pack_results(), packed_element(), stores);
}

std::optional<ItemLaunch> FusedKernel::make_item(std::span<const Slot> to) {
  if (!add_flat_operands() || !add_statements()) return std::nullopt;
  // The statements compute one element, so packs of any size can use them.
  pack_ = widest_pack();
  ItemLaunch made;
  made.item.n = type_.elements();
  made.launch = each_launch(
      make_items_source("pointwise_items.cuh", item_body(), declarations()),
      parts_of(made.item.n, pack_));
  made.launch.n = {};
  for (size_t k = 0; k < operands_.size(); ++k) {
    std::vector<Slot>& in = along_[k] ? made.item.in : made.launch.in;
    in.push_back(value(operands_[k]).slot);
  }
  made.item.out.assign(to.begin(), to.end());
  const Item carried;
  if (made.item.in.size() > carried.in.size() ||
      made.item.out.size() > carried.out.size()) {
    return std::nullopt;
  }
  return made;
}

// ---- reductions -------------------------------------------------------------

// Names the operands of a kernel that indexes all of them alike: an operand has
// the results' shape or is one element. Nothing computed may need Args::n,
// which belongs to a reduction or is common to several runs.
bool FusedKernel::add_flat_operands() {
  name_operands();
  if (operands_.size() > kIn) return false;
  for (const Id id : operands_) {
    const Value& v = value(id);
    along_.push_back(v.home == Home::kMemory && v.type.shape == type_.shape);
    if (!along_.back() && v.type.elements() != 1) return false;
  }
  return std::none_of(ids_.begin(), ids_.end(), [this](Id id) {
    const Value& v = value(id);
    return v.home == Home::kComputed &&
           (v.maker == Maker::kRand || v.wrong != nullptr);
  });
}

// Returns the struct Computed of text/reduce_computed.cuh. The values that are
// written are results behind that of the reduction.
std::string FusedKernel::computed() const {
  const std::string_view raw = result_word(0);
  const std::string load = loads(
      [&](size_t k) {
        return fmt::format("load_several<{}, kPack>(a, {}, i)",
                           word_of(value(operands_[k]).type.dtype), k);
      },
      [&](size_t k) { return operand_text(k, "0"); });
  const std::string ys = of_results(1, [&](size_t r, const std::string& y) {
    return fmt::format("    {} {};\n", result_word(r), y);
  });
  const std::string stores = of_results(1, [&](size_t r, const std::string& y) {
    return fmt::format("    out<{}>(a, {})[i] = {};\n", result_word(r), r, y);
  });
  const std::string packs = of_results(1, [&](size_t r, const std::string& y) {
    return fmt::format("    Several<{}, kPack> {};\n", result_word(r), y);
  });
  const std::string one = call_element(
      "i", [&](size_t k) { return operand_text(k, along_[k] ? "i" : "0"); },
      y_of);
  return fmt::format(
      "template <typename F>\nstruct Computed : Elements<F, {0}> {{\n"
      "  static bool are_even(const Args& a) {{ return is_even({1}); }}\n"
      "  static {0} at(const Args& a, int64_t i) {{\n"
      "    {0} y;\n{2}    {3}{4}    return y;\n  }}\n"
      "  template <bool kWhole, int kPack>\n"
      "  static Several<{0}, kPack> pack(const Args& a, int64_t i, int64_t "
      "left) "
      "{{\n    Several<{0}, kPack> y{{}};\n"
      "    if constexpr (!kWhole) {{\n#pragma unroll\n"
      "      for (int j = 0; j < kPack; ++j) {{\n"
      "        if (j < left) y.x[j] = at(a, i + j);\n      }}\n"
      "      return y;\n    }}\n"
      "    if (left <= 0) return y;\n{5}{6}"
      "#pragma unroll\n    for (int j = 0; j < kPack; ++j) {{\n      {7}    "
      "}}\n"
      "{8}    return y;\n  }}\n}};\n",
      raw, addresses(1), ys, one, stores, load, packs, packed_element(),
      of_results(1, store_pack_text));
}

// True if a reduction's threads can compute its elements without losing time. A
// reduction of few blocks must not do much work, which by itself would be
// spread over as many threads as there are elements. And since a thread holds
// several packs of each operand, all operands together may have no more bytes
// than four operands of the reduced dtype.
bool FusedKernel::is_little_work(const Launch& reduction) const {
  // The most ops for each thread.
  constexpr int64_t kLittle = 512;
  size_t bytes = 0;
  for (size_t k = 0; k < operands_.size(); ++k) {
    if (along_[k]) bytes += size_of(value(operands_[k]).type.dtype);
  }
  if (bytes > 4 * std::max<size_t>(size_of(type_.dtype), 2)) return false;
  if (reduction.blocks >= kBusyBlocks) return true;
  const auto ops = static_cast<int64_t>(ids_.size() - operands_.size());
  return ops * type_.elements() <= kLittle * reduction.blocks * kThreads;
}

std::optional<Launch> FusedKernel::make_reduced(const Reducing& reducing,
                                                const Launch& first,
                                                std::span<const Slot> to) {
  if (1 + to.size() > kOut || !add_flat_operands() ||
      operands_.size() > reducing.most_operands || !is_little_work(first) ||
      !add_statements()) {
    return std::nullopt;
  }
  Launch launch = first;
  launch.source = reducing.source(declarations() + computed());
  launch.in.clear();
  for (const Id id : operands_) launch.in.push_back(value(id).slot);
  launch.out.insert(launch.out.end(), to.begin(), to.end());
  return launch;
}

}  // namespace gt::exec::cuda
