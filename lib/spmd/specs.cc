#include "spmd/specs.h"

#include <algorithm>

#include "base/message.h"
#include "ops/table.h"
#include "spmd/claim.h"
#include "spmd/redistribution.h"
#include "spmd/stated.h"
#include "stream/ranks.h"

namespace gt {
namespace {

Result<std::vector<Shape>> shapes_of(const Line& line, const Grid& grid,
                                     const PieceType& pieces) {
  if (Status s = check_crossing(line); !s.ok()) return s.error();
  std::vector<Shape> shapes;
  for (const int64_t rank : grid.ranks()) {
    shapes.push_back(pieces(0, rank)->shape);
  }
  return shapes;
}

}  // namespace

bool states_specs(const Line& line) {
  return (line.key("src_spec") != nullptr || line.key("dst_spec") != nullptr) &&
         collective_of(line.op) == Collective::kRedistribute;
}

Result<std::vector<SplitEntry>> parse_spec(std::string_view text,
                                           const Mesh* mesh, size_t dims) {
  if (mesh == nullptr) {
    return Error{"spec " + excerpt(text) +
                 " names axes, and no mesh is declared"};
  }
  const auto spec = spec_items(text);
  std::vector<SplitEntry> entries;
  std::string names;
  for (size_t d = 0; d < spec.size(); ++d) {
    for (const std::string_view axis : spec[d]) {
      entries.push_back({std::string(axis), static_cast<int64_t>(d), 1});
      names += (names.empty() ? "" : "+") + entries.back().axis;
    }
  }
  if (spec.size() != dims) {
    return Error{"spec " + excerpt(text) + " has " +
                 std::to_string(spec.size()) + " entries, the tensor " +
                 std::to_string(dims) +
                 " dimensions; write - for one that is not cut"};
  }
  if (names.empty()) return entries;
  const auto axes = mesh->resolve(names);
  if (!axes.ok()) return axes.error();
  return entries;
}

Result<Specs> specs_of(const Line& line, const Mesh* mesh, size_t dims) {
  Specs specs;
  for (const auto& [name, out] :
       {std::pair("src_spec", &specs.src), std::pair("dst_spec", &specs.dst)}) {
    const int key = key_at(line, name);
    if (key < 0) return at_op(line, "takes src_spec= and dst_spec=, both");
    const Key& found = line.keys[static_cast<size_t>(key)];
    auto entries = parse_spec(unquote(found.value), mesh, dims);
    if (!entries.ok()) {
      return at(found.column, line, entries.error().message);
    }
    *out = std::move(entries.value());
  }
  for (const Key& key : line.keys) {
    if (key.key == "src_spec" || key.key == "dst_spec" || key.key == "bwd") {
      continue;
    }
    return at(key.column, line,
              "key " + std::string(key.key) +
                  " goes with src= and dst= on one axis, not with specs");
  }
  return specs;
}

namespace {

struct Task {
  Specs specs;
  Shape whole;
};

Result<Task> task_of(const Line& line, const Grid& grid,
                     const PieceType& pieces) {
  const auto shapes = shapes_of(line, grid, pieces);
  if (!shapes.ok()) return shapes.error();
  auto specs = specs_of(line, grid.mesh(), shapes.value()[0].size());
  if (!specs.ok()) return specs.error();
  const auto whole = whole_of(specs.value().src, shapes.value(), grid);
  if (!whole.ok()) return at_op(line, whole.error().message);
  return Task{std::move(specs.value()), whole.value()};
}

}  // namespace

Result<std::vector<Type>> redistributed(const Line& line, const Grid& grid,
                                        const PieceType& pieces) {
  const auto task = task_of(line, grid, pieces);
  if (!task.ok()) return task.error();
  const auto regions = cut(task.value().specs.dst, task.value().whole, grid);
  if (!regions.ok()) return at_op(line, regions.error().message);
  std::vector<Type> types;
  for (size_t p = 0; p < grid.size(); ++p) {
    const Dtype dtype = pieces(0, grid.ranks()[p])->dtype;
    types.push_back({dtype, regions.value()[p].count});
  }
  return types;
}

namespace {

// The layouts that the specs describe, over the axes that they name.
struct Ends {
  Cluster cluster;
  Layout from, to;
  uint32_t invariant = 0;  // a bit for each axis on which the operand is I
};

std::vector<std::string> axes_of(const Specs& specs) {
  std::vector<std::string> axes;
  for (const auto* entries : {&specs.src, &specs.dst}) {
    for (const SplitEntry& e : *entries) {
      if (std::find(axes.begin(), axes.end(), e.axis) == axes.end()) {
        axes.push_back(e.axis);
      }
    }
  }
  return axes;
}

Layout layout_of(const std::vector<SplitEntry>& entries,
                 const Cluster& cluster) {
  Layout layout;
  for (const SplitEntry& e : entries) {
    layout.add({static_cast<uint32_t>(cluster.axis_index(e.axis)),
                static_cast<int32_t>(e.dim), e.unit});
  }
  return layout;
}

Result<Ends> ends_of(const Line& line, const Specs& specs, const Grid& grid,
                     const LetterOn& letter) {
  auto cluster = Cluster::make(grid, axes_of(specs));
  if (!cluster.ok()) return at_op(line, cluster.error().message);
  Ends ends{std::move(cluster.value()), {}, {}, 0};
  ends.from = layout_of(specs.src, ends.cluster);
  ends.to = layout_of(specs.dst, ends.cluster);
  for (const AxisCut& cut : ends.to.cuts) {
    if (ends.from.cut_of(cut.axis) != nullptr) continue;
    const std::string& axis = ends.cluster.axis_name(cut.axis);
    const char is = letter(axis);
    if (is == 'P') ends.from.partial |= uint32_t{1} << cut.axis;
    if (is == 'I') ends.invariant |= uint32_t{1} << cut.axis;
    if (is == 'P' || is == 'I' || is == 'R') continue;
    return at_op(line,
                 "dst_spec= names " + axis + ", on which " +
                     full_name(line.operands[0].text, line.operands[0].ranks) +
                     " is unrelated values; name it in src_spec= if it cuts a "
                     "dimension");
  }
  return ends;
}

// Returns the line of a step: a copy of `line` with the op, keys and source of
// the step.
RedistributionStep step_of(const Line& line, std::string_view op, MoveKeys keys,
                           bool is_first) {
  RedistributionStep step{line, std::move(keys)};
  step.line.op = op;
  Operand& source = step.line.operands[0];
  if (!is_first) {
    source.text = line.results[0].text;
    source.ranks = line.results[0].ranks;
  }
  step.line.keys.clear();
  for (const auto& [key, value] : step.keys) {
    step.line.keys.push_back({key, value, line.op_column});
  }
  const int bwd = key_at(line, "bwd");
  const Collective collective = collective_of(op);
  if (bwd >= 0 && (collective == Collective::kAllGather ||
                   collective == Collective::kConvert)) {
    step.line.keys.push_back(line.keys[static_cast<size_t>(bwd)]);
  }
  return step;
}

// Removes the notes and the remark that are true only of the last step's
// result.
void drop_claims(Line& line) {
  std::erase_if(line.notes, [](const Note& note) {
    return note.key == "type" || note.key == "spec";
  });
  line.remark = {};
}

}  // namespace

Result<std::vector<RedistributionStep>> redistribution_steps(
    const Line& line, const Grid& grid, const PieceType& pieces,
    const LetterOn& letter, const Machine& machine) {
  const auto task = task_of(line, grid, pieces);
  if (!task.ok()) return task.error();
  const auto ends = ends_of(line, task.value().specs, grid, letter);
  if (!ends.ok()) return ends.error();
  const auto& [cluster, from, to, invariant] = ends.value();
  const Type whole{pieces(0, grid.ranks()[0])->dtype, task.value().whole};
  std::vector<RedistributionStep> steps;
  for (Move& move : redistribution(cluster, machine, whole, from, to)) {
    if (move.src.letter == 'R' && (move.axes & invariant) != 0) {
      move.src.letter = 'I';
    }
    if (!steps.empty()) drop_claims(steps.back().line);
    steps.push_back(step_of(
        line, move.op, move_keys(move, cluster, whole.shape), steps.empty()));
  }
  if (steps.empty()) steps.push_back(step_of(line, "copy", {}, true));
  return steps;
}

}  // namespace gt
