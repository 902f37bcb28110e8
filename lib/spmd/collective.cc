#include "spmd/collective.h"

namespace gt {
namespace {

// The most ranks of an exchange: each sends a part to each, which takes a step
// for each pair.
constexpr size_t kMaxExchange = 512;

// Writes what a target does with the values of its step's sources, except for
// the step that gives its value, which is returned.
Step insert_task(const ExchangePlan& plan, size_t step, size_t target,
                 const std::vector<Ref>& values, ProgramWriter& writer) {
  const ExchangeStep& from = plan.step(step);
  GT_CHECK(!from.is_flat);
  // A read is a part of this dimension, and the whole of the others.
  const size_t dim = plan.form().dim;
  const ExchangeTask task = plan.task(step, target);
  std::vector<Ref> pieces;
  for (size_t i = 0; i < task.reads.size(); ++i) {
    const auto& [source, region] = task.reads[i];
    const Shape& shape = from.exports[source].shape;
    pieces.push_back(values[source]);
    if (task.arguments[i].shape == shape) continue;
    const int64_t begin = region.start[dim];
    const bool drops = task.arguments[i].shape.size() < shape.size();
    pieces.back() =
        writer.set(slice_of(pieces.back(), shape.size(), dim,
                            drops ? std::to_string(begin)
                                  : range(begin, begin + region.count[dim])));
  }
  return writer.insert(task.program, pieces);
}

}  // namespace

Result<std::vector<Type>> group_types(const ExchangePlan& plan) {
  const size_t members = plan.targets().size();
  if (plan.form().kind == GroupForm::Kind::kExchange &&
      members > kMaxExchange) {
    return Error{"a group of " + std::to_string(members) +
                 " ranks; an exchange takes at most " +
                 std::to_string(kMaxExchange)};
  }
  std::vector<Type> types;
  const size_t last = plan.steps() - 1;
  for (size_t t = 0; t < plan.step(last).target_homes.size(); ++t) {
    const Type type = plan.output(last, t);
    if (Status s = check_size(type); !s.ok()) return s.error();
    types.insert(types.end(), plan.results(t).size(), type);
  }
  return types;
}

Result<GroupProgram> group_program(const ExchangePlan& plan) {
  if (auto types = group_types(plan); !types.ok()) return types.error();
  ProgramWriter writer;
  std::vector<Ref> values;
  for (size_t i = 0; i < plan.pieces().size(); ++i) {
    values.push_back(piece_ref(i));
  }
  const size_t last = plan.steps() - 1;
  for (size_t s = 0; s < last; ++s) {
    std::vector<Ref> made;
    for (size_t t = 0; t < plan.step(s).target_homes.size(); ++t) {
      made.push_back(writer.value_of(insert_task(plan, s, t, values, writer)));
    }
    values = std::move(made);
  }
  size_t given = 0;
  for (size_t t = 0; t < plan.step(last).target_homes.size(); ++t) {
    Step step = insert_task(plan, last, t, values, writer);
    const size_t ranks = plan.results(t).size();
    if (ranks > 1) step = copy_of(writer.value_of(std::move(step)));
    for (size_t r = 0; r < ranks; ++r) writer.give(given++, step);
  }
  return writer.take(given);
}

}  // namespace gt
