// The work that a GPU does for a call: a list of steps over the call's
// operands, its results and scratch memory. A plan holds the texts of the
// kernels and depends on no driver, so tests run plans on the host, and compile
// their kernels for GPUs that are not there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ops/call.h"

namespace gt::exec::cuda {

// Where a step takes an address, or a number, from.
struct Slot {
  enum class Home : uint8_t { kNone, kOperand, kResult, kScratch, kNumber };
  Home home = Home::kNone;
  // The index of the operand, the result or the scratch memory.
  size_t index = 0;
  // For kNumber: the number's 8 bytes, used in place of an address.
  uint64_t bits = 0;
};
inline Slot operand(size_t i) { return {Slot::Home::kOperand, i, 0}; }
inline Slot result(size_t i) { return {Slot::Home::kResult, i, 0}; }
inline Slot scratch(size_t i) { return {Slot::Home::kScratch, i, 0}; }
Slot number(double value);
Slot number(int64_t value);

// The text of a kernel: CUDA C++ that includes files of text/ (see source.h).
struct Source {
  // The kernel's name; no other text has it.
  std::string name;
  std::string text;
};

// Sizes of the arrays of Args, and kThreads, as in text/common.cuh.
inline constexpr size_t kIn = 8;
inline constexpr size_t kOut = 4;
inline constexpr size_t kNumbers = 72;
inline constexpr int kThreads = 256;
// Launches are divided for a GPU with as many multiprocessors as an H100 SXM
// module has. Other GPUs get the same launches, so that a sum has the same bits
// on all of them.
inline constexpr int64_t kMultiprocessors = 132;
// With fewer than two blocks for each multiprocessor, some of their time is
// unused.
inline constexpr int64_t kBusyBlocks = 2 * kMultiprocessors;

// Args of text/common.cuh, byte for byte.
struct Args {
  std::array<uint64_t, kIn> in{};
  std::array<uint64_t, kOut> out{};
  uint64_t fault = 0;
  uint64_t told = 0;
  uint64_t begun = 0;
  uint64_t task = 0;
  uint64_t base = 0;
  std::array<int64_t, kNumbers> n{};
};

// Item and Items of text/common.cuh, byte for byte. Args and Items together fit
// into the 4,096 bytes that a launch can carry.
inline constexpr size_t kItems = 46;
struct Item {
  std::array<uint64_t, 4> in{};
  std::array<uint64_t, 3> out{};
  int64_t n = 0;
  uint64_t told = 0;
};
struct Items {
  int64_t count = 0;
  int64_t blocks = 0;
  std::array<Item, kItems> item{};
};
static_assert(sizeof(Args) + sizeof(Items) <= 4096);

// One launch of a kernel with kThreads threads per block; `in`, `out` and `n`
// become its Args.
struct Launch {
  Source source;
  int64_t blocks = 1;
  std::vector<Slot> in;
  std::vector<Slot> out;
  std::array<int64_t, kNumbers> n{};
};

// A product c = a b, with an optional bias for each column of c, that a library
// computes. Matrices are row-major and hold floats; f16 and bf16 accumulate in
// f32.
struct Product {
  Dtype dtype = Dtype::kF32;  // of a and b
  // The dtype of c and of the bias: that of a and b, or f32.
  Dtype to = Dtype::kF32;
  Slot a, b, c, bias;  // bias: kNone if there is none
  int64_t m = 0, n = 0, k = 0;
  // If ta, a is [k,m] instead of [m,k]; if tb, b is [n,k] instead of [k,n].
  bool ta = false, tb = false;
  // Each entry of `starts` gives the offsets, in elements, of the first
  // matrices of a, b and c; from there, `count` products are computed whose
  // matrices lie `step` elements apart.
  int64_t count = 1;
  std::array<int64_t, 3> step{};
  std::vector<std::array<int64_t, 3>> starts;
};

// Copies bytes of the host to a slot.
struct Upload {
  Slot to;
  std::vector<std::byte> bytes;
};
// Fills `bytes` bytes of a slot with zeros.
struct Clear {
  Slot to;
  size_t bytes = 0;
};

using Step = std::variant<Launch, Product, Upload, Clear>;

// Calls use(slot) for each slot of the step.
template <typename Use>
void each_slot(Step& step, const Use& use) {
  if (auto* launch = std::get_if<Launch>(&step)) {
    for (Slot& slot : launch->in) use(slot);
    for (Slot& slot : launch->out) use(slot);
  } else if (auto* product = std::get_if<Product>(&step)) {
    for (Slot* slot : {&product->a, &product->b, &product->c, &product->bias}) {
      use(*slot);
    }
  } else if (auto* upload = std::get_if<Upload>(&step)) {
    use(upload->to);
  } else {
    use(std::get<Clear>(step).to);
  }
}

// An attention, or its gradient, that a library may compute instead of the
// plan's steps. It has f16 or bf16 tensors and no mask; lse is f32.
struct AttentionTask {
  // The tensors. Forwards, o and lse are computed from q, k and v, and lse only
  // if it has a slot; backwards, the gradients gq, gk and gv are computed from
  // all roles before them.
  enum Role : uint8_t { kQ, kK, kV, kO, kLse, kGo, kGq, kGk, kGv, kRoles };
  std::array<Slot, kRoles> slots{};
  bool backwards = false;
  Dtype dtype = Dtype::kF16;
  int64_t batch = 1, heads = 1, rows = 0, columns = 0, depth = 0, width = 0;
  // The number of neighbouring heads that share one head of k and v.
  int64_t group = 1;
  // Memory layout of a tensor: [batch, rows, heads, depth] if true, so that the
  // heads of a row lie beside each other; else [batch, heads, rows, depth].
  bool beside = false;
  // The columns that row i sees: all; those up to i; or those up to i + columns
  // - rows, so that the last row sees all.
  enum class Sees : uint8_t { kAll, kFromFirst, kFromLast };
  Sees sees = Sees::kAll;
  double scale = 1;

  // Returns the distances, in elements, between the batches, heads, rows and
  // elements of a tensor that has `own_heads` heads of `length` rows of `size`
  // elements.
  std::array<int64_t, 4> strides(int64_t own_heads, int64_t length,
                                 int64_t size) const {
    const int64_t whole = own_heads * length * size;
    if (beside) return {whole, size, own_heads * size, 1};
    return {whole, length * size, size, 1};
  }
};

// Reads 8 bytes of operand i, from element `index` on, or as many as there are.
using Peek =
    std::function<Result<std::array<std::byte, 8>>(size_t i, int64_t index)>;

class Fusion;

// The item that a run contributes to a launch whose kernel takes Items. Runs
// that differ in nothing else can share one launch (batch.h).
struct ItemSlots {
  std::vector<Slot> in;
  std::vector<Slot> out;
  int64_t n = 0;
};
struct ItemLaunch {
  Launch launch;  // everything that all runs have in common
  ItemSlots item;
};

// What a point-wise plan with one result computes: a value of a fusion, whose
// leaves are in slots of the plan.
struct Pointwise {
  std::shared_ptr<const Fusion> fusion;
  size_t value = 0;
  Type type;
};

// Describes how the first launch of a plan can compute operand 0 instead of
// reading it. A plan has one if that launch reads each element of operand 0
// once, as those of reductions, softmax and norms do. `source` makes the text
// of the kernel that computes; its `declarations` define the struct `Computed`,
// which gives the elements (text/reduce_computed.cuh, text/rows_computed.cuh).
struct Reducing {
  Type operand;
  Type result;
  std::function<Source(std::string_view declarations)> source;
  // The most operands that the elements can be computed from. They take the
  // first entries of Args::in, which the kernel leaves free for them.
  size_t most_operands = kIn;
  // True if each thread reads its elements before it writes any result at their
  // place, so that the result may take the memory of operand 0, or of a tensor
  // that operand 0 is computed from.
  bool in_place = false;
};

// The plan of one call.
struct Plan {
  std::vector<Step> steps;
  std::vector<size_t> scratch;  // size in bytes of each piece
  // Says what is wrong with the data if `position` is the first place where a
  // kernel found wrong data. Null if no kernel can find any, so that the plan
  // cannot fail.
  std::function<Error(int64_t position, const Peek& peek)> explain;
  // The element that `explain` reads with `peek`: the element of `operand` at
  // `position` or, unless `each`, its first element.
  struct Witness {
    size_t operand = 0;
    bool each = false;
  };
  std::optional<Witness> witness;  // none: `explain` reads no element
  // Set if the steps are point-wise and no data can be wrong. A run can then
  // share a launch with others (chains.h).
  std::optional<Pointwise> pointwise;
  std::optional<ItemSlots> item;
  std::optional<Reducing> reducing;
  // Pairs of an operand and a result that may share memory.
  std::vector<std::pair<size_t, size_t>> in_place;
  // A library's way to make the same results, to be used if the library is
  // there.
  std::optional<AttentionTask> attention;

  // Adds a piece of scratch memory and returns its index.
  size_t add_scratch(size_t bytes) {
    scratch.push_back(bytes);
    return scratch.size() - 1;
  }
};

// Returns a plan of one step that needs no scratch memory and cannot fail.
Plan one_step(Step step);

// Returns the plan of a call; none if the op's expansion is to be run instead.
std::optional<Plan> plan_of(const Call& call);
// Does the same, but returns none if the plan would be made from the op's
// expansion.
std::optional<Plan> own_plan(const Call& call);

// A row of a file's table: an op, and the function that plans a call of it.
// Each of the functions below returns the table of one file plan_NAME.cc.
struct PlanRow {
  const char* op;
  std::optional<Plan> (*make)(const Call& call);
};
std::span<const PlanRow> reduction_plans();
std::span<const PlanRow> layout_plans();
std::span<const PlanRow> creation_plans();
std::span<const PlanRow> index_plans();
std::span<const PlanRow> order_plans();
std::span<const PlanRow> scan_plans();
std::span<const PlanRow> product_plans();
std::span<const PlanRow> optimizer_plans();
std::span<const PlanRow> row_plans();
std::span<const PlanRow> attention_plans();
std::span<const PlanRow> window_plans();

// Returns the plan of a point-wise op, a cast or an expand; none if the op has
// no formula for its dtype.
std::optional<Plan> pointwise_plan(const Call& call);

// Returns the plan of an op whose expansion is point-wise ops, or point-wise
// ops around reductions; none if it is not, or if fusing them would gain
// nothing.
std::optional<Plan> expansion_plan(const Call& call);

}  // namespace gt::exec::cuda
