#include "spmd/exchange_plan.h"

#include <algorithm>
#include <unordered_map>

namespace gt {
namespace {

bool is_empty(const Shape& shape) { return shape.elements() == 0; }

Type flat(const Type& type) { return {type.dtype, {type.elements()}}; }

// Finds the largest subtrees of the fixed tree whose members have one home.
void find_subtrees(const std::vector<uint32_t>& homes, size_t begin, size_t end,
                   std::vector<Subtree>& out) {
  const auto first = homes.begin() + static_cast<ptrdiff_t>(begin);
  const auto last = homes.begin() + static_cast<ptrdiff_t>(end);
  if (std::all_of(first, last, [&](uint32_t h) { return h == *first; })) {
    out.push_back({begin, end});
    return;
  }
  const size_t middle = tree_middle(begin, end);
  find_subtrees(homes, begin, middle, out);
  find_subtrees(homes, middle, end, out);
}

}  // namespace

bool sums_by_chunks(const Type& piece, size_t homes, size_t direct_bytes) {
  if (piece.shape.empty()) return false;
  // A home reads n - 1 pieces, or twice as many n-th parts of one.
  const auto n = static_cast<double>(homes);
  const double saved = (n - 1) * (1 - 2 / n);
  return saved * static_cast<double>(piece.bytes()) >
         static_cast<double>(direct_bytes);
}

uint32_t ExchangePlan::home(int64_t rank) const {
  return home_ ? home_(rank) : static_cast<uint32_t>(rank);
}

std::vector<uint32_t> ExchangePlan::homes(
    const std::vector<int64_t>& ranks) const {
  std::vector<uint32_t> out;
  for (const int64_t rank : ranks) out.push_back(home(rank));
  return out;
}

ExchangePlan::ExchangePlan(Crossing group, const ExchangeOptions& options)
    : group_(std::move(group)), home_(options.home) {
  const std::vector<uint32_t> to = find_targets();
  std::vector<Type> values = group_.pieces;
  std::vector<uint32_t> from = homes(group_.sources);
  if (group_.form.sums()) {
    find_subtrees(from, 0, from.size(), subtrees_);
    if (subtrees_.size() < from.size()) {
      std::vector<uint32_t> at;
      for (const Subtree& s : subtrees_) at.push_back(from[s.begin]);
      add_step(Kind::kCombine, values, from, at);
      values = outputs(0);
      from = std::move(at);
    }
  }
  const Type& first = group_.pieces[0];
  const bool by_chunks = group_.form.kind == GroupForm::Kind::kSum &&
                         sums_by_chunks(first, to.size(), options.direct_bytes);
  if (!by_chunks) {
    add_step(Kind::kFinal, std::move(values), std::move(from), to);
    return;
  }
  for (size_t i = 0; i <= to.size(); ++i) {
    const auto k = static_cast<int64_t>(to.size());
    chunks_.push_back(
        extent_of(first.elements(), 1, k, static_cast<int64_t>(i)).start);
  }
  std::transform(values.begin(), values.end(), values.begin(), flat);
  add_step(Kind::kSum, std::move(values), std::move(from), to);
  steps_.back().out.is_flat = true;
  add_step(Kind::kJoin, outputs(steps_.size() - 1), to, to);
}

ExchangePlan::ExchangePlan(Assembly assembly, const ExchangeOptions& options)
    : home_(options.home), assembly_(std::move(assembly)) {
  group_.sources = assembly_->sources;
  group_.pieces = assembly_->pieces;
  results_.emplace_back();
  add_step(Kind::kAssemble, group_.pieces, homes(group_.sources),
           {options.reader.value_or(home(assembly_->target))});
}

// Makes a target for each result, or for each home if all results are one
// value.
std::vector<uint32_t> ExchangePlan::find_targets() {
  using Form = GroupForm::Kind;
  const Form kind = group_.form.kind;
  const bool is_shared =
      kind == Form::kRoot || kind == Form::kSum || kind == Form::kGather;
  std::vector<uint32_t> to;
  std::unordered_map<uint32_t, size_t> known;
  for (const int64_t rank : group_.targets) {
    const uint32_t at = home(rank);
    const auto [it, is_new] = known.try_emplace(at, to.size());
    if (is_shared && !is_new) {
      results_[it->second].push_back(rank);
      continue;
    }
    to.push_back(at);
    results_.push_back({rank});
  }
  return to;
}

void ExchangePlan::add_step(Kind kind, std::vector<Type> exports,
                            std::vector<uint32_t> from,
                            std::vector<uint32_t> to) {
  Step step{kind, {}};
  step.out.exports = std::move(exports);
  step.out.source_homes = std::move(from);
  step.out.target_homes = std::move(to);
  steps_.push_back(std::move(step));
}

std::vector<Type> ExchangePlan::outputs(size_t step) const {
  std::vector<Type> types;
  for (size_t t = 0; t < steps_[step].out.target_homes.size(); ++t) {
    types.push_back(output(step, t));
  }
  return types;
}

// ---- who reads what ---------------------------------------------------------

ExchangePlan::Span ExchangePlan::sources_of(const Step& step,
                                            size_t target) const {
  using Form = GroupForm::Kind;
  const Span all{0, step.out.exports.size()};
  if (step.kind == Kind::kCombine) {
    return {subtrees_[target].begin, subtrees_[target].end};
  }
  if (step.kind != Kind::kFinal) return all;
  switch (group_.form.kind) {
    case Form::kSame:
    case Form::kOwnPlace:
    case Form::kScatter:
      return {target, target + 1};
    case Form::kFirst:
      return {0, target == 0 ? size_t{1} : 0};
    case Form::kRoot:
      return {group_.form.root, group_.form.root + 1};
    case Form::kReduce:
      return target == group_.form.root ? all : Span{0, 0};
    default:
      return all;
  }
}

ExchangePlan::Span ExchangePlan::targets_of(const Step& step,
                                            size_t source) const {
  using Form = GroupForm::Kind;
  const Span all{0, step.out.target_homes.size()};
  if (step.kind == Kind::kCombine) {
    const auto after = std::upper_bound(
        subtrees_.begin(), subtrees_.end(), source,
        [](size_t s, const Subtree& tree) { return s < tree.end; });
    const auto t = static_cast<size_t>(after - subtrees_.begin());
    return {t, t + 1};
  }
  if (step.kind != Kind::kFinal) return all;
  switch (group_.form.kind) {
    case Form::kSame:
    case Form::kOwnPlace:
    case Form::kScatter:
      return {source, source + 1};
    case Form::kFirst:
      return {0, source == 0 ? size_t{1} : 0};
    case Form::kRoot:
      return source == group_.form.root ? all : Span{0, 0};
    case Form::kReduce:
      return {group_.form.root, group_.form.root + 1};
    default:
      return all;
  }
}

// True if targets read only their parts of the form's dimension.
bool ExchangePlan::reads_parts(const Step& step) const {
  using Form = GroupForm::Kind;
  const Form form = group_.form.kind;
  return step.kind == Kind::kFinal &&
         (form == Form::kSumScatter || form == Form::kScatter ||
          form == Form::kExchange);
}

// Returns what the target reads from one of its sources.
Region ExchangePlan::part(const Step& step, size_t target,
                          size_t source) const {
  const Shape& shape = step.out.exports[source].shape;
  if (step.kind == Kind::kSum) {
    return {{chunks_[target]}, {chunks_[target + 1] - chunks_[target]}};
  }
  if (reads_parts(step)) return group_.form.part(shape, source, target);
  Region whole{{}, shape};
  for (size_t d = 0; d < shape.size(); ++d) whole.start.push_back(0);
  return whole;
}

std::vector<ExchangeRead> ExchangePlan::reads(size_t step,
                                              size_t target) const {
  const Step& s = steps_[step];
  std::vector<ExchangeRead> out;
  const Span span = sources_of(s, target);
  for (size_t i = span.begin; i < span.end; ++i) {
    Region region = part(s, target, i);
    if (is_empty(region.count)) continue;
    out.push_back({static_cast<uint32_t>(i), std::move(region)});
  }
  return out;
}

std::vector<uint32_t> ExchangePlan::readers(size_t step, size_t source) const {
  const Step& s = steps_[step];
  std::vector<uint32_t> out;
  const Span span = targets_of(s, source);
  for (size_t t = span.begin; t < span.end; ++t) {
    if (is_empty(part(s, t, source).count)) continue;
    out.push_back(static_cast<uint32_t>(t));
  }
  return out;
}

// ---- what comes out ---------------------------------------------------------

Type ExchangePlan::output(size_t step, size_t target) const {
  const Step& s = steps_[step];
  const Type& first = group_.pieces[0];
  switch (s.kind) {
    case Kind::kCombine: {
      const Subtree& tree = subtrees_[target];
      if (tree.end - tree.begin == 1) return s.out.exports[tree.begin];
      return {group_.form.summed(first.dtype), first.shape};
    }
    case Kind::kSum:
      return {group_.form.result(first.dtype), part(s, target, 0).count};
    case Kind::kJoin:
      return {group_.form.result(first.dtype), first.shape};
    case Kind::kAssemble:
      return assembly_->whole;
    case Kind::kFinal:
      break;
  }
  return final_output(target);
}

Type ExchangePlan::final_output(size_t target) const {
  using Form = GroupForm::Kind;
  const GroupForm& form = group_.form;
  const size_t like = form.kind == Form::kRoot        ? form.root
                      : group_.pieces.size() > target ? target
                                                      : 0;
  Type type = group_.pieces[like];
  type.dtype = form.result(type.dtype);
  switch (form.kind) {
    case Form::kOwnPlace:
    case Form::kGather:
      if (form.is_sliced) type.shape.insert(form.dim, 0);
      type.shape[form.dim] = form.cuts.back();
      break;
    case Form::kSumScatter:
    case Form::kScatter:
      type.shape = form.part(type.shape, target, target).count;
      if (form.is_sliced) type.shape.erase(form.dim);
      break;
    case Form::kExchange:
      type.shape = exchanged_shape(target);
      break;
    default:
      break;
  }
  return type;
}

Shape ExchangePlan::exchanged_shape(size_t target) const {
  const GroupForm& form = group_.form;
  Shape shape;
  int64_t joined = 0;
  for (size_t j = 0; j < group_.pieces.size(); ++j) {
    shape = form.part(group_.pieces[j].shape, j, target).count;
    joined += shape[form.join];
  }
  if (form.is_sliced) {
    shape.erase(form.dim);
    shape.insert(form.join, static_cast<int64_t>(group_.pieces.size()));
  } else {
    shape[form.join] = joined;
  }
  return shape;
}

ExchangeTask ExchangePlan::task(size_t step, size_t target) const {
  const Step& s = steps_[step];
  ExchangeTask task;
  task.reads = reads(step, target);
  task.output = output(step, target);
  const bool is_slice = group_.form.is_sliced && reads_parts(s);
  for (const ExchangeRead& read : task.reads) {
    Shape shape = read.region.count;
    if (is_slice) shape.erase(group_.form.dim);
    task.arguments.push_back({s.out.exports[read.source].dtype, shape});
  }
  ProgramWriter writer;
  if (task.reads.empty()) {
    writer.give(0, zeros_of(task.output));
  } else if (s.kind == Kind::kAssemble) {
    task.program = assembly_->program;
    return task;
  } else {
    writer.give(0, last_step(writer, s, target, task.arguments));
  }
  task.program = writer.take(1);
  return task;
}

// Writes the steps before the one that gives the target's output, and returns
// that last step.
gt::Step ExchangePlan::last_step(ProgramWriter& writer, const Step& step,
                                 size_t target,
                                 const std::vector<Type>& pieces) const {
  const GroupForm& form = group_.form;
  const size_t members = group_.pieces.size();
  if (step.kind == Kind::kCombine) {
    if (pieces.size() == 1) return copy_of(piece_ref(0));
    return copy_of(writer.combine(
        form, pieces, leaves(subtrees_[target].begin, subtrees_[target].end),
        members));
  }
  if (step.kind == Kind::kSum) {
    return copy_of(writer.finish_sum(
        form, writer.combine(form, pieces, subtrees_, members)));
  }
  if (step.kind == Kind::kJoin) {
    return step_of("reshape", {writer.set(joined("concat", pieces.size(), 0))},
                   {{"shape", to_string(group_.pieces[0].shape)}});
  }
  return final_step(writer, target, pieces);
}

gt::Step ExchangePlan::final_step(ProgramWriter& writer, size_t target,
                                  const std::vector<Type>& pieces) const {
  using Form = GroupForm::Kind;
  const GroupForm& form = group_.form;
  if (form.sums()) {
    return copy_of(writer.finish_sum(
        form, writer.combine(form, pieces, subtrees_, group_.pieces.size())));
  }
  switch (form.kind) {
    case Form::kOwnPlace:
      return writer.own_place(form, piece_ref(0), pieces[0].shape.size(),
                              target);
    case Form::kGather: {
      gt::Step all =
          joined(form.is_sliced ? "stack" : "concat", pieces.size(), form.dim);
      if (!form.out.has_value()) return all;
      return copy_of(writer.cast(writer.set(std::move(all)), *form.out));
    }
    case Form::kExchange:
      return joined(form.is_sliced ? "stack" : "concat", pieces.size(),
                    form.join);
    default:
      return copy_of(piece_ref(0));
  }
}

// ---- of a line --------------------------------------------------------------

Result<std::vector<ExchangePlan>> exchange_plans(
    const Line& line, const LineRanks& where, const Grid& grid,
    const PieceType& types, const ExchangeOptions& options) {
  RankFilter is_here;
  if (options.here.has_value()) {
    is_here = [&](int64_t rank) {
      const auto own = static_cast<uint32_t>(rank);
      return (options.home ? options.home(rank) : own) == *options.here;
    };
  }
  auto groups = crossings(line, where, grid, types, is_here);
  if (!groups.ok()) return groups.error();
  std::vector<ExchangePlan> plans;
  for (Crossing& group : groups.value()) {
    plans.emplace_back(std::move(group), options);
  }
  return plans;
}

}  // namespace gt
