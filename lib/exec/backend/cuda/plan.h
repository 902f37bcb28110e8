// What a GPU does for a call: a list of steps over the call's operands, its
// results and scratch memory, of which the kernels' texts are known and nothing
// else depends on a driver. So tests run plans on the host, and compile what
// they launch for GPUs that are not there.
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

// Where an address that a step takes comes from.
struct Slot {
  enum class Home : uint8_t { kNone, kOperand, kResult, kScratch, kNumber };
  Home home = Home::kNone;
  size_t index = 0;   // of the operand, the result or the scratch memory
  uint64_t bits = 0;  // of a number: its 8 bytes, in place of an address
};
inline Slot operand(size_t i) { return {Slot::Home::kOperand, i, 0}; }
inline Slot result(size_t i) { return {Slot::Home::kResult, i, 0}; }
inline Slot scratch(size_t i) { return {Slot::Home::kScratch, i, 0}; }
Slot number(double value);
Slot number(int64_t value);

// A kernel's text: CUDA C++ that includes files of text/, see source.h.
struct Source {
  std::string name;  // the kernel's; no other text has it
  std::string text;
};

// These are the sizes of Args in text/common.cuh, and its kThreads.
inline constexpr size_t kIn = 8;
inline constexpr size_t kOut = 4;
inline constexpr size_t kNumbers = 72;
inline constexpr int kThreads = 256;
// Launches are cut for a GPU with as many multiprocessors as an H100 in an SXM
// module has. Other GPUs get the same launches, so that a sum has the same bits
// on all of them.
inline constexpr int64_t kMultiprocessors = 132;
// Fewer blocks than two for each of them leave some of their time unused.
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

// Items of text/common.cuh, byte for byte. With Args, they are what a launch
// can carry, 4,096 bytes.
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

struct Launch {
  Source source;
  int64_t blocks = 1;
  std::vector<Slot> in;
  std::vector<Slot> out;
  std::array<int64_t, kNumbers> n{};
};

// c = a b, and a bias for each column of c: matrices of floats, row-major, that
// a library multiplies. f16 and bf16 accumulate in f32.
struct Product {
  Dtype dtype = Dtype::kF32;  // of a and b
  Dtype to = Dtype::kF32;     // of c and the bias: the same, or f32
  Slot a, b, c, bias;         // bias: kNone if there is none
  int64_t m = 0, n = 0, k = 0;
  bool ta = false, tb = false;  // a is [k,m], b is [n,k]
  // `count` products whose matrices lie so many elements apart, for each of
  // `starts`: the first matrices of a, b and c.
  int64_t count = 1;
  std::array<int64_t, 3> step{};
  std::vector<std::array<int64_t, 3>> starts;
};

// Bytes of the host that become a result.
struct Upload {
  Slot to;
  std::vector<std::byte> bytes;
};
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

// An attention, or its gradient, that a library may compute in the stead of a
// plan's steps: of f16 or bf16, without a mask; lse is of f32.
struct AttentionTask {
  // Whose addresses it takes. Forwards o and lse are made of q, k and v, the
  // last only if it has a slot; backwards the gradients gq, gk and gv of all
  // before them.
  enum Role : uint8_t { kQ, kK, kV, kO, kLse, kGo, kGq, kGk, kGv, kRoles };
  std::array<Slot, kRoles> slots{};
  bool backwards = false;
  Dtype dtype = Dtype::kF16;
  int64_t batch = 1, heads = 1, rows = 0, columns = 0, depth = 0, width = 0;
  int64_t group = 1;  // so many neighbouring heads share one of k and v
  // Whether the heads of a row lie beside each other, [batch, rows, heads,
  // depth], or their matrices do, [batch, heads, rows, depth].
  bool beside = false;
  // The columns that row i sees: all, those up to i, or those up to i + columns
  // - rows, so that the last row sees all.
  enum class Sees : uint8_t { kAll, kFromFirst, kFromLast };
  Sees sees = Sees::kAll;
  double scale = 1;

  // How many elements apart the batches, heads, rows and elements of a tensor
  // of so many heads and so long matrices are.
  std::array<int64_t, 4> strides(int64_t own_heads, int64_t length,
                                 int64_t size) const {
    const int64_t whole = own_heads * length * size;
    if (beside) return {whole, size, own_heads * size, 1};
    return {whole, length * size, size, 1};
  }
};

// Reads 8 bytes, or as many as there are, from element `index` of operand i on.
using Peek =
    std::function<Result<std::array<std::byte, 8>>(size_t i, int64_t index)>;

class Fusion;

// Of a launch whose kernel takes Items: what the item of a run is. Runs that
// differ in nothing else can be one launch (batch.h).
struct ItemSlots {
  std::vector<Slot> in;
  std::vector<Slot> out;
  int64_t n = 0;
};
struct ItemLaunch {
  Launch launch;  // of what all runs have in common
  ItemSlots item;
};

// What a plan of one result computes where that is point-wise: a value of a
// fusion, whose leaves are in slots of the plan.
struct Pointwise {
  std::shared_ptr<const Fusion> fusion;
  size_t value = 0;
  Type type;
};

// Tells how the first launch of a plan can compute operand 0 instead of reading
// it. A plan has one if that launch reads each element of operand 0 once, as
// those of reductions, of softmax and of norms do. `source` makes the text of
// the kernel that computes; `declarations` define its struct `Computed`, which
// gives the elements (text/reduce_computed.cuh, text/rows_computed.cuh).
struct Reducing {
  Type operand;
  Type result;
  std::function<Source(std::string_view declarations)> source;
  // How many operands the elements can be computed from: the first entries of
  // Args::in, which the kernel leaves free for them.
  size_t most_operands = kIn;
  // Whether each thread reads its elements before it writes any result there,
  // so that the result may take the memory of operand 0, or of a tensor that
  // operand 0 is computed from.
  bool in_place = false;
};

struct Plan {
  std::vector<Step> steps;
  std::vector<size_t> scratch;  // bytes of each piece
  // What is wrong with the data, if a kernel found wrong data first at
  // `position`. Without it no kernel finds any, and the plan cannot fail.
  std::function<Error(int64_t position, const Peek& peek)> explain;
  // The element that `explain` peeks at: of that operand, the one at `position`
  // or, where not each position has one, the first.
  struct Witness {
    size_t operand = 0;
    bool each = false;
  };
  std::optional<Witness> witness;  // none: it peeks at nothing
  // What the steps compute, if it is point-wise and no data can be wrong: then
  // a run can be one launch with others (chains.h).
  std::optional<Pointwise> pointwise;
  std::optional<ItemSlots> item;
  std::optional<Reducing> reducing;
  // The pairs of an operand and a result that may share memory.
  std::vector<std::pair<size_t, size_t>> in_place;
  // What makes the same results as the steps, in a library that has it.
  std::optional<AttentionTask> attention;

  size_t add_scratch(size_t bytes) {
    scratch.push_back(bytes);
    return scratch.size() - 1;
  }
};

// The plan of one step, without scratch memory, that cannot fail.
Plan one_step(Step step);

// The plan of a call; none where it is the op's expansion that is run.
std::optional<Plan> plan_of(const Call& call);
// The same, but none where it would be made from the op's expansion.
std::optional<Plan> own_plan(const Call& call);

// A row of a file's table: an op and what plans a call of it. Each of the
// functions below gives the table of plan_NAME.cc.
struct PlanRow {
  const char* op;
  std::optional<Plan> (*make)(const Call& call);
};
std::span<const PlanRow> reduction_plans();
std::span<const PlanRow> layout_plans();
std::span<const PlanRow> creation_plans();
std::span<const PlanRow> index_plans();
std::span<const PlanRow> order_plans();
std::span<const PlanRow> product_plans();
std::span<const PlanRow> optimizer_plans();
std::span<const PlanRow> row_plans();
std::span<const PlanRow> attention_plans();
std::span<const PlanRow> window_plans();

// Of a point-wise op, a cast or an expand; none if it has no formula for its
// dtype.
std::optional<Plan> pointwise_plan(const Call& call);

// Of an op whose expansion is point-wise ops, or these around reductions; none
// if it is not, or if nothing would be gained.
std::optional<Plan> expansion_plan(const Call& call);

}  // namespace gt::exec::cuda
