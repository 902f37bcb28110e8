// Plans attention and its gradient, for the kernels of text/attention.cuh or
// for a library.
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/source.h"
#include "ops/attention.h"
#include "ops/shape_rules.h"

namespace gt::exec::cuda {
namespace {

// Returns where each matrix of an operand lies over the leading dimensions, in
// matrices times `group`: `group` neighbours in the last leading dimension
// share one matrix.
Strides lead_strides(const Type& type, const Attention& a, int64_t group) {
  Shape own(
      std::span<const int64_t>(type.shape.begin(), type.shape.size() - 2));
  if (!own.empty()) own[own.size() - 1] *= group;
  return broadcast_strides(own, a.lead);
}

// Makes the launches of one call, which differ in what a block of threads
// computes.
class AttentionLaunches {
 public:
  // `mask` is the operand that is the mask, if the call has one.
  AttentionLaunches(const Call& call, size_t mask)
      : call_(call),
        a_(attention_of(call).value()),
        dtype_(call.type(0).dtype),
        tile_(dtype_ == Dtype::kF64 ? 32 : 64),
        units_(a_.lead),
        mask_(mask) {
    if (call.has_key("heads")) units_.push_back(a_.heads);
  }

  const Attention& sizes() const { return a_; }
  int64_t rows() const { return units_.elements() * a_.rows; }
  Slot mask() const { return is_masked() ? operand(mask_) : Slot{}; }

  // Returns a launch with a block for each tile of `rows` rows of a result and
  // each part of its `columns` columns.
  Launch of_tiles(const char* kernel, int64_t rows, int64_t columns) const {
    const int64_t wide = columns > tile_ ? 2 : 1;
    const std::string_view masks[] = {"kNoMask", "kBoolMask", "kFloatMask"};
    const std::string_view masked = a_.masked;
    Launch launch =
        launch_of(instance(kernel, {word_of(dtype_),
                                    masks[masked == "none"   ? 0
                                          : masked == "bool" ? 1
                                                             : 2],
                                    wide == 2 ? "2" : "1"}),
                  parts_of(rows, tile_),
                  std::max<int64_t>(1, parts_of(columns, tile_ * wide)));
    return launch;
  }

  Launch of_delta() const {
    Launch launch =
        launch_of(instance("attention_delta", {word_of(dtype_)}), 1, 1);
    set_blocks(launch, parts_of(rows(), 16));
    return launch;
  }

 private:
  bool is_masked() const { return std::string_view(a_.masked) != "none"; }

  static void set_blocks(Launch& launch, int64_t blocks) {
    launch.n[0] = blocks;
    launch.blocks = block_launch({}, blocks).blocks;
  }

  // Writes the launch's numbers in the order of AttentionNumber in
  // text/attention.cuh.
  Launch launch_of(const std::string& kernel, int64_t tiles,
                   int64_t chunks) const {
    Launch launch;
    launch.source = make_source("attention.cuh", kernel + "(a);");
    const int64_t units = units_.elements();
    set_blocks(launch, units * tiles * chunks);
    const bool has_heads = call_.has_key("heads");
    const int64_t group = has_heads ? a_.group : 1;
    const int64_t lead_group = has_heads ? 1 : a_.group;
    Strides mask{};
    if (is_masked()) {
      Shape scores = units_;
      scores.push_back(a_.rows);
      scores.push_back(a_.columns);
      mask = broadcast_strides(call_.type(mask_).shape, scores);
    }
    // With a depth of 0 all products are 0, whatever the scale.
    const double scale = a_.depth == 0 ? 0 : a_.scale;
    const std::array<int64_t, 16> numbers = {launch.n[0],
                                             units,
                                             tiles,
                                             chunks,
                                             a_.heads,
                                             a_.rows,
                                             a_.columns,
                                             a_.depth,
                                             a_.width,
                                             a_.causal ? 1 : 0,
                                             a_.first,
                                             std::bit_cast<int64_t>(scale),
                                             group,
                                             lead_group,
                                             mask[units_.size()],
                                             mask[units_.size() + 1]};
    int64_t* rest = std::copy(numbers.begin(), numbers.end(), launch.n.begin());
    for (size_t i = 0; i < 3; ++i) {
      rest =
          write_place(rest, a_.lead,
                      lead_strides(call_.type(i), a_, i == 0 ? 1 : lead_group));
    }
    write_place(rest, units_, mask);
    return launch;
  }

  const Call& call_;
  Attention a_;
  Dtype dtype_;
  int64_t tile_;  // kTile of text/tile.cuh
  Shape units_;   // the leading dimensions, and the heads if there are any
  size_t mask_;
};

// With fewer rows or columns than this, gt's own kernel, which is the same for
// all sizes, is ready sooner than the library has chosen one.
constexpr int64_t kLeastForLibrary = 64;
constexpr int64_t kMostDepth = 128;

bool has_library_size(int64_t depth) {
  return depth > 0 && depth % 8 == 0 && depth <= kMostDepth;
}

// Returns the task, without slots, that a library may compute instead of the
// kernels; none if libraries do not support the form of the call.
std::optional<AttentionTask> task_of(const Call& call, const Attention& a) {
  AttentionTask task;
  task.dtype = call.type(0).dtype;
  task.beside = call.has_key("heads");
  task.heads = task.beside ? a.heads : a.lead.empty() ? 1 : a.lead.back();
  task.batch = a.lead.elements();
  if (!task.beside) task.batch /= std::max<int64_t>(task.heads, 1);
  task.group = a.group;
  task.rows = a.rows;
  task.columns = a.columns;
  task.depth = a.depth;
  task.width = a.width;
  task.scale = a.scale;
  if (a.causal) {
    if (a.first != 0 && a.first != a.columns - a.rows) return std::nullopt;
    task.sees = a.first == 0 ? AttentionTask::Sees::kFromFirst
                             : AttentionTask::Sees::kFromLast;
  }
  const bool fits = (task.dtype == Dtype::kF16 || task.dtype == Dtype::kBf16) &&
                    std::string_view(a.masked) == "none" &&
                    task.batch * task.heads > 0 && a.rows >= kLeastForLibrary &&
                    a.columns >= kLeastForLibrary &&
                    has_library_size(a.depth) && has_library_size(a.width);
  if (!fits) return std::nullopt;
  // No operand may be broadcast, and element indices must fit into 32 bits.
  const int64_t own = task.batch * task.heads;
  const auto is_whole = [&](size_t i, int64_t elements) {
    return call.type(i).dtype == task.dtype &&
           call.type(i).elements() == elements &&
           elements <= std::numeric_limits<int32_t>::max();
  };
  if (!is_whole(0, own * a.rows * a.depth) ||
      !is_whole(1, own / a.group * a.columns * a.depth) ||
      !is_whole(2, own / a.group * a.columns * a.width)) {
    return std::nullopt;
  }
  return task;
}

std::optional<Plan> plan_attention(const Call& call) {
  const AttentionLaunches launches(call, 3);
  const Attention& a = launches.sizes();
  Launch launch = launches.of_tiles("attention", a.rows, a.width);
  launch.in = {operand(0), operand(1), operand(2), launches.mask()};
  launch.out = {result(0), call.results.size() > 1 ? result(1) : Slot{}};
  Plan plan = one_step(std::move(launch));
  plan.attention = task_of(call, a);
  if (plan.attention) {
    plan.attention->slots = {operand(0), operand(1), operand(2), result(0),
                             call.results.size() > 1 ? result(1) : Slot{}};
  }
  return plan;
}

std::optional<Plan> plan_attention_grad(const Call& call) {
  const AttentionLaunches launches(call, 7);
  const Attention& a = launches.sizes();
  Plan plan;
  const size_t wide = size_of(wide_dtype(call.type(0).dtype));
  const Slot delta =
      scratch(plan.add_scratch(static_cast<size_t>(launches.rows()) * wide));
  Launch first = launches.of_delta();
  const bool has_glse = call.arguments.size() > 6 && call.given(6);
  first.in = {operand(3), operand(5), has_glse ? operand(6) : Slot{}};
  first.out = {delta};
  Launch rows = launches.of_tiles("attention_grad_rows", a.rows, a.depth);
  Launch columns = launches.of_tiles("attention_grad_columns", a.columns,
                                     std::max(a.depth, a.width));
  rows.in = columns.in = {operand(0), operand(1), operand(2),     operand(5),
                          operand(4), delta,      launches.mask()};
  rows.out = {result(0)};
  columns.out = {result(1), result(2)};
  plan.steps = {std::move(first), std::move(rows), std::move(columns)};
  if (!has_glse) plan.attention = task_of(call, a);
  if (plan.attention) {
    AttentionTask& task = *plan.attention;
    task.backwards = true;
    task.slots = {operand(0), operand(1), operand(2), operand(3), operand(4),
                  operand(5), result(0),  result(1),  result(2)};
  }
  return plan;
}

constexpr PlanRow kAttentionPlans[] = {
    {"attention", plan_attention},
    {"attention_grad", plan_attention_grad},
};

}  // namespace

std::span<const PlanRow> attention_plans() { return kAttentionPlans; }

}  // namespace gt::exec::cuda
