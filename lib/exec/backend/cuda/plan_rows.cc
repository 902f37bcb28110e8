// Plans softmax, norms and cross entropy, whose kernels work row by row.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "exec/backend/cuda/plan.h"
#include "exec/backend/cuda/reduce_steps.h"
#include "exec/backend/cuda/source.h"
#include "exec/backend/element.h"
#include "exec/memory/part_runs.h"
#include "ops/shape_rules.h"

namespace gt::exec::cuda {
namespace {

// Returns a launch of a kernel over rows, with at most `blocks` blocks at a
// time.
Launch rows_launch(Source source, const Lines& rows, int64_t blocks) {
  Launch launch = block_launch(std::move(source), blocks);
  write_lines(launch, rows);
  launch.n[entry::kDivisor] = 1;
  return launch;
}

// Returns a launch with a block for each row.
Launch row_launch(const std::string& body, const Lines& rows) {
  return rows_launch(make_source("softmax.cuh", body + "(a);"), rows,
                     rows.count);
}

// For a kernel that reads each row twice: limits the blocks that run at a time
// to as many as have their rows in the GPU's cache together, so that a row is
// still there when it is read again; but not to fewer than keep the GPU busy.
void keep_near(Launch& launch, const Lines& rows, Dtype dtype) {
  constexpr int64_t kCache = int64_t{48} << 20;
  const int64_t bytes = rows.size * static_cast<int64_t>(size_of(dtype));
  launch.blocks =
      std::min(launch.blocks, std::max(kBusyBlocks, kCache / bytes));
}

std::string_view flag(bool b) { return b ? "true" : "false"; }

// True if all tensors have the dtype of result 0.
bool has_one_dtype(const Call& call) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& a = call.arguments[i];
    if (a.absent) continue;
    if (a.literal || a.type.dtype != call.results[0].dtype) return false;
  }
  return true;
}

// ---- teams ------------------------------------------------------------------

// How the threads of a block divide the rows: teams of `team` threads, each of
// which holds `held` packs of its row in registers (text/teams.cuh).
struct Teams {
  int64_t team = 0, held = 0;
  int64_t count() const { return kThreads / team; }
};
// Returns none for rows that are not contiguous or are too long to be held in
// registers. The limits count registers of four bytes in each thread: `longest`
// if the team is the whole block, `most` if it is smaller.
std::optional<Teams> teams_for(const Lines& rows, Dtype dtype,
                               int64_t most = 24, int64_t longest = 64) {
  if (rows.step != 1) return std::nullopt;
  const int64_t width = rows.size;
  const auto size = static_cast<int64_t>(size_of(dtype));
  const int64_t pack = 16 / size;
  const int64_t packs = parts_of(width, pack);
  const int64_t registers = size == 8 ? 2 : 1;  // of one element
  for (int64_t team = 32; team <= kThreads; team *= 2) {
    const int64_t held = parts_of(packs, team);
    const int64_t limit = team == kThreads ? longest : most;
    if (held * pack * registers <= limit) return Teams{team, held};
  }
  return std::nullopt;
}

// Returns a kernel's instance: "name<f32, ..., 32, 3, ...>".
std::string team_instance(const char* name,
                          const std::vector<std::string_view>& arguments,
                          const Teams& teams, const std::string& more = "") {
  return fmt::format("{}<{}, {}, {}{}>", name, fmt::join(arguments, ", "),
                     teams.team, teams.held, more);
}
// Returns a launch with a team for each row.
Launch team_launch(Source source, const Lines& rows, const Teams& teams) {
  return rows_launch(std::move(source), rows,
                     parts_of(rows.count, teams.count()));
}

// Plans a kernel that takes each row of operand 0 once, from memory or
// computed; the rows have the result's dtype. The kernel's other operands,
// `own`, come behind those that the rows may be computed from.
Plan taking_plan(const char* header, const char* name, const Call& call,
                 const Lines& rows, const Teams& teams, std::string_view flag,
                 const std::vector<Slot>& own) {
  const std::string_view word = word_of(call.results[0].dtype);
  const auto body = [=](const std::string& from) {
    return team_instance(name, {word, from, flag}, teams) + "(a);";
  };
  Launch launch = team_launch(
      make_source(header, body(instance("Memory", {word}))), rows, teams);
  launch.in.assign(entry::kForRows, {});
  launch.in[0] = operand(0);
  launch.in.insert(launch.in.end(), own.begin(), own.end());
  launch.out = {result(0)};
  Plan plan;
  plan.steps.emplace_back(std::move(launch));
  plan.in_place = {{0, 0}};
  const std::string computed = instance("Computed", {instance("Sum", {word})});
  plan.reducing = {call.type(0), call.results[0],
                   [text = body(computed)](std::string_view declarations) {
                     return make_source("rows_computed.cuh", text,
                                        declarations);
                   },
                   entry::kForRows, true};
  return plan;
}

// ---- softmax ----------------------------------------------------------------

template <bool kLog>
std::optional<Plan> plan_softmax(const Call& call) {
  const Type& type = call.results[0];
  if (type.elements() == 0) return std::nullopt;
  const Lines rows = lines_along(type.shape, single_axis(call, 0));
  if (const auto teams = teams_for(rows, type.dtype)) {
    return taking_plan("softmax.cuh", "softmax_held", call, rows, *teams,
                       flag(kLog), {});
  }
  Launch launch =
      row_launch(instance("softmax", {word_of(type.dtype), flag(kLog)}), rows);
  keep_near(launch, rows, type.dtype);
  launch.in = {operand(0)};
  launch.out = {result(0)};
  Plan plan;
  plan.steps.emplace_back(std::move(launch));
  plan.in_place = {{0, 0}};
  return plan;
}

template <bool kLog>
std::optional<Plan> plan_softmax_grad(const Call& call) {
  const Type& type = call.results[0];
  if (type.elements() == 0) return std::nullopt;
  const Lines rows = lines_along(type.shape, single_axis(call, 0));
  // The kernel holds two rows.
  const auto teams =
      has_one_dtype(call) ? teams_for(rows, type.dtype, 24, 32) : std::nullopt;
  Launch launch =
      teams ? team_launch(
                  make_source(
                      "softmax.cuh",
                      team_instance("softmax_grad_held",
                                    {word_of(type.dtype), flag(kLog)}, *teams) +
                          "(a);"),
                  rows, *teams)
            : row_launch(
                  instance("softmax_grad", {word_of(call.type(0).dtype),
                                            word_of(call.type(1).dtype),
                                            word_of(type.dtype), flag(kLog)}),
                  rows);
  launch.in = {operand(0), operand(1)};
  launch.out = {result(0)};
  Plan plan;
  plan.steps.emplace_back(std::move(launch));
  for (size_t i = 0; i < 2; ++i) {
    if (call.type(i) == type) plan.in_place.emplace_back(i, 0);
  }
  return plan;
}

// ---- norms ------------------------------------------------------------------

int64_t eps_of(const Call& call) {
  return std::bit_cast<int64_t>(call.number("eps"));
}

Slot given(const Call& call, size_t i) {
  return i < call.arguments.size() && call.given(i) ? operand(i) : Slot{};
}

template <bool kCenter>
std::optional<Plan> plan_norm(const Call& call) {
  const Type& type = call.results[0];
  if (!has_one_dtype(call) || type.elements() == 0) return std::nullopt;
  const Lines rows = rows_of(type.shape);
  const auto teams = teams_for(rows, type.dtype);
  if (!teams) return std::nullopt;
  Plan plan = taking_plan("norms.cuh", "norm", call, rows, *teams,
                          flag(kCenter), {given(call, 1), given(call, 2)});
  std::get<Launch>(plan.steps[0]).n[entry::kEps] = eps_of(call);
  return plan;
}

// The results gx [gw] [gb] are computed from g x [w]: a launch computes gx and,
// for each block, the sums over its rows, which a reduction then adds up.
template <bool kCenter>
std::optional<Plan> plan_norm_grad(const Call& call) {
  const Type& type = call.results[0];
  if (!has_one_dtype(call) || type.elements() == 0) return std::nullopt;
  const Lines rows = rows_of(type.shape);
  // There are two sums besides each element of a row. No other warp waits for a
  // row that one warp holds.
  const auto teams = teams_for(rows, type.dtype, 24, 32);
  if (!teams) return std::nullopt;
  // With this many blocks for each multiprocessor, 40 KB of g and x are on
  // their way to it, which hides the latency of memory; more blocks would mean
  // more partial sums.
  constexpr int64_t kPackBytes = 2 * 16 * kThreads;
  const int64_t most_blocks =
      kMultiprocessors *
      std::max<int64_t>(2, 40'000 / (kPackBytes * teams->held) + 1);
  const size_t sums = call.result_count - 1;
  Launch launch = team_launch(
      make_source(
          "norms.cuh",
          team_instance("norm_grad", {word_of(type.dtype), flag(kCenter)},
                        *teams, fmt::format(", {}", sums)) +
              "(a);"),
      rows, *teams);
  const int64_t at_once = most_blocks * teams->count();  // rows at once
  const int64_t turns = parts_of(rows.count, at_once);
  const int64_t of_block = turns * teams->count();
  const int64_t blocks = parts_of(rows.count, of_block);
  launch.blocks = blocks;
  launch.n[entry::kEps] = eps_of(call);
  launch.n[entry::kRowsOfBlock] = of_block;
  launch.n[entry::kRowBlocks] = blocks;
  launch.in = {operand(0), operand(1), given(call, 2)};
  launch.out = {result(0)};
  Plan plan;
  const size_t bytes = total_bytes(type.dtype);
  for (size_t i = 0; i < sums; ++i) {
    launch.out.push_back(scratch(
        plan.add_scratch(static_cast<size_t>(blocks * rows.size) * bytes)));
  }
  const std::vector<Slot> parts(launch.out.begin() + 1, launch.out.end());
  plan.steps.emplace_back(std::move(launch));
  for (size_t i = 0; i < sums; ++i) {
    Reduction r;
    r.function = instance("Sum", {word_of(type.dtype)});
    r.from = instance("Partial", {r.function});
    r.in = {parts[i]};
    r.layout = {{rows.size}, {blocks}, {1}, {rows.size}};
    r.out = result(i + 1);
    r.to = type.dtype;
    r.element_bytes = r.total_bytes = bytes;
    (void)add_reduction(plan, r);
  }
  return plan;
}

// ---- cross entropy ----------------------------------------------------------

void explain_class(Plan& plan, int64_t classes, size_t i, Dtype dtype) {
  plan.witness = {i, true};
  plan.explain = [classes, i, dtype](int64_t row, const Peek& peek) {
    const auto bytes = peek(i, row);
    if (!bytes.ok()) return bytes.error();
    return out_of_range(load_int(dtype, bytes.value().data(), 0),
                        {0, classes, classes});
  };
}

Launch cross_entropy_launch(const std::string& name,
                            const std::vector<std::string_view>& words,
                            const Lines& rows, Dtype dtype) {
  const auto teams = teams_for(rows, dtype);
  if (!teams) return row_launch(instance(name, words), rows);
  const std::string body =
      team_instance((name + "_held").c_str(), words, *teams) + "(a);";
  return team_launch(make_source("softmax.cuh", body), rows, *teams);
}

// Computes a loss for each row. If the call does not want each loss, they go to
// scratch memory, and a reduction makes their sum or mean.
std::optional<Plan> plan_cross_entropy(const Call& call) {
  const Type& x = call.type(0);
  const bool is_plain = !call.given(2) && !call.has_key("ignore_index") &&
                        call.number("label_smoothing") == 0;
  if (!is_plain || x.elements() == 0) return std::nullopt;
  const std::string_view reduction = call.key("reduction");
  const bool is_each = reduction == "none";
  const Lines rows = rows_of(x.shape);
  const Dtype index = call.type(1).dtype;
  const Dtype to = call.results[0].dtype;
  const Dtype wide = wide_dtype(x.dtype);
  const std::vector<std::string_view> words = {word_of(x.dtype), word_of(index),
                                               word_of(is_each ? to : wide)};
  Launch launch = cross_entropy_launch("cross_entropy", words, rows, x.dtype);
  Plan plan;
  const Slot losses =
      is_each ? result(0)
              : scratch(plan.add_scratch(static_cast<size_t>(rows.count) *
                                         size_of(wide)));
  launch.in = {operand(0), operand(1)};
  launch.out = {losses};
  plan.steps.emplace_back(std::move(launch));
  explain_class(plan, rows.size, 1, index);
  if (is_each) return plan;

  Reduction r;
  r.function = instance(reduction == "mean" ? "Mean" : "Sum", {word_of(wide)});
  r.from = instance("Elements", {r.function, word_of(wide)});
  r.in = {losses};
  r.element_bytes = size_of(wide);
  r.total_bytes = reduction == "mean" ? sizeof(double) : size_of(wide);
  r.layout = {{}, {rows.count}, {}, {1}};
  r.out = result(0);
  r.to = to;
  r.divisor = rows.count;
  (void)add_reduction(plan, r);
  return plan;
}

std::optional<Plan> plan_cross_entropy_grad(const Call& call) {
  const Type& x = call.type(1);
  if (x.elements() == 0) return std::nullopt;
  const std::string_view reduction = call.key("reduction");
  const Lines rows = rows_of(x.shape);
  const Dtype index = call.type(2).dtype;
  Launch launch =
      cross_entropy_launch("cross_entropy_grad",
                           {word_of(x.dtype), word_of(call.type(0).dtype),
                            word_of(index), flag(reduction == "none")},
                           rows, x.dtype);
  if (reduction == "mean") launch.n[entry::kDivisor] = rows.count;
  keep_near(launch, rows, x.dtype);
  launch.in = {operand(0), operand(1), operand(2)};
  launch.out = {result(0)};
  Plan plan;
  plan.steps.emplace_back(std::move(launch));
  plan.in_place = {{1, 0}};
  explain_class(plan, rows.size, 2, index);
  return plan;
}

constexpr PlanRow kRowPlans[] = {
    {"softmax", plan_softmax<false>},
    {"softmax_grad", plan_softmax_grad<false>},
    {"log_softmax", plan_softmax<true>},
    {"log_softmax_grad", plan_softmax_grad<true>},
    {"layer_norm", plan_norm<true>},
    {"layer_norm_grad", plan_norm_grad<true>},
    {"rms_norm", plan_norm<false>},
    {"rms_norm_grad", plan_norm_grad<false>},
    {"cross_entropy", plan_cross_entropy},
    {"cross_entropy_grad", plan_cross_entropy_grad},
};

}  // namespace

std::span<const PlanRow> row_plans() { return kRowPlans; }

}  // namespace gt::exec::cuda
