// Chooses the rule for a line that crosses ranks, and finds the groups of a
// line that has groups.
#include "spmd/rules.h"
#include "spmd/specs.h"

namespace gt {

std::optional<std::vector<Axis>> group_axes(const ReadLine& in, Findings& out) {
  const std::string over = unquote(in.call.key("over"));
  if (over.empty()) return in.within;
  const auto fail = [&](Rule rule, std::string text) {
    out.faults.add({.rule = rule, .text = std::move(text)});
    return std::nullopt;
  };
  const Mesh* mesh = in.names.mesh();
  if (mesh == nullptr)
    return fail(Rule::kNoMesh, "over=" + over + " has no mesh");
  const auto axes = mesh->resolve(over);
  if (!axes.ok()) {
    const bool outer = in.names.find(over).ok();
    return fail(
        Rule::kUnknownAxis,
        axes.error().message + (outer ? "; it belongs to an outer mesh" : ""));
  }
  std::vector<Axis> group;
  for (const MeshAxis* axis : axes.value()) {
    if (in.is_within(*axis)) group.push_back(*axis);
  }
  const auto grid = Grid::make(mesh, in.ranks());
  if (!grid.ok()) return group;
  const auto groups = grid.value().groups(over);
  if (!groups.ok()) return fail(Rule::kGroupRanks, groups.error().message);
  return group;
}

std::optional<int64_t> group_member(const ReadLine& in, int64_t position) {
  const auto grid = Grid::make(in.names.mesh(), in.ranks());
  if (!grid.ok()) return std::nullopt;
  const auto groups = grid.value().groups(unquote(in.call.key("over")));
  if (!groups.ok() || position < 0 ||
      static_cast<size_t>(position) >= groups.value()[0].size()) {
    return std::nullopt;
  }
  return in.ranks()[groups.value()[0][static_cast<size_t>(position)]];
}

bool cross_ranks(const ReadLine& in, Findings& out) {
  if (!in.is_name(0)) return false;
  for (Placement& type : out.types) type = in.operands[0]->type;
  const Collective op = in.collective();
  if (op == Collective::kCopy) {
    if (copy_between_ranks(in, out)) return true;
    for (Placement& type : out.types) type = {};
    return false;
  }
  if (op == Collective::kRemesh) return remesh_operand(in, out);
  if (states_specs(in.line)) return redistribute_specs(in, out);
  const auto group = group_axes(in, out);
  if (!group.has_value()) return false;
  if (group->empty()) return true;  // groups of one: nothing happens
  if (op == Collective::kReduce || op == Collective::kBroadcast) {
    return broadcast_or_reduce(in, *group, out);
  }
  return connect_ends(in, *group, out);
}

}  // namespace gt
