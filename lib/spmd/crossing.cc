// Divides lines that cross ranks into groups, and finds what each group
// computes.
#include "spmd/crossing.h"

#include <algorithm>

#include "base/message.h"
#include "ops/table.h"
#include "spmd/stated.h"

namespace gt {

bool crosses_ranks(const Line& line, const LineRanks& where) {
  const Op* op = find_op(line.op);
  if (op == nullptr) return false;
  if (op->row->collective != Collective::kCopy) return op->row->needs_ranks();
  return !where.operands.empty() && !where.operands[0].empty() &&
         where.operands[0] != where.ranks;
}

Status check_crossing(const Line& line) {
  const auto usage = [&line] {
    return std::string("; usage: ") + find_op(line.op)->row->signature;
  };
  if (line.operands.size() != 1 || line.results.size() != 1) {
    return at_op(line, "takes one name and gives one" + usage());
  }
  const Operand& x = line.operands[0];
  if (is_name(x)) return ok_status();
  return at(
      x.column, line,
      "expected a tensor's name, got '" + excerpt(x.text) + "'" + usage());
}

namespace {

Result<std::vector<Crossing>> copy_groups(const Line& line,
                                          const LineRanks& where,
                                          const PieceType& types) {
  Crossing group;
  group.sources = where.operands[0];
  group.targets = where.ranks;
  const size_t from = group.sources.size();
  const size_t to = group.targets.size();
  if (!line.keys.empty()) return at_op(line, "usage: y@2-3 = copy x@0-1");
  if (from != to && from != 1) {
    return at_op(line, "copies set to set of one size, or one to many; got " +
                           std::to_string(from) + " ranks to " +
                           std::to_string(to));
  }
  for (const int64_t rank : group.sources) {
    group.pieces.push_back(*types(0, rank));
  }
  using Kind = GroupForm::Kind;
  group.form.kind = from == to ? Kind::kSame : Kind::kRoot;
  return std::vector<Crossing>{std::move(group)};
}

// Returns the members' sizes that split= and shape= state; empty without them.
Result<std::vector<Region>> stated_regions(const Line& line, const Grid& grid) {
  const std::string_view* text = line.key("split");
  if (text == nullptr) return std::vector<Region>{};
  const auto split = parse_split(unquote(*text));
  if (!split.ok()) return at_op(line, split.error().message);
  const auto whole = find_whole(line);
  if (!whole.ok()) return whole.error();
  auto regions = cut(split.value(), whole.value().shape, grid);
  if (!regions.ok()) return at_op(line, regions.error().message);
  return regions;
}

Result<Crossing> group_of(const Line& line, const Call& call, const Grid& grid,
                          const std::vector<uint32_t>& positions,
                          const std::vector<Region>& regions,
                          const PieceType& types) {
  Crossing group;
  GroupShapes shapes;
  for (const uint32_t p : positions) {
    const int64_t rank = grid.ranks()[p];
    group.sources.push_back(rank);
    shapes.pieces.push_back(*types(0, rank));
    if (!regions.empty()) shapes.stated.push_back(regions[p].count);
    if (shapes.pieces.back().dtype == shapes.pieces[0].dtype) continue;
    return at_op(line, "the pieces hold different dtypes");
  }
  group.targets = group.sources;
  auto form = group_form(call, shapes);
  if (!form.ok()) return at_op(line, form.error().message);
  group.form = std::move(form.value());
  group.pieces = std::move(shapes.pieces);
  return group;
}

}  // namespace

Result<std::vector<Crossing>> crossings(const Line& line,
                                        const LineRanks& where,
                                        const Grid& grid,
                                        const PieceType& types,
                                        const RankFilter& wanted) {
  if (Status s = check_crossing(line); !s.ok()) return s.error();
  if (collective_of(line.op) == Collective::kCopy) {
    return copy_groups(line, where, types);
  }
  std::vector<const Type*> none(line.operands.size(), nullptr);
  Call call;
  if (Status s = bind_form(line, none, call); !s.ok()) return s.error();
  const auto members = grid.groups(unquote(call.key("over")));
  if (!members.ok()) return at_op(line, members.error().message);
  const auto regions = stated_regions(line, grid);
  if (!regions.ok()) return regions.error();
  std::vector<Crossing> groups;
  for (size_t g = 0; g < members.value().size(); ++g) {
    const std::vector<uint32_t>& positions = members.value()[g];
    if (wanted &&
        std::none_of(positions.begin(), positions.end(),
                     [&](uint32_t p) { return wanted(grid.ranks()[p]); })) {
      continue;
    }
    auto group = group_of(line, call, grid, positions, regions.value(), types);
    if (!group.ok()) return group.error();
    group.value().index = static_cast<uint32_t>(g);
    groups.push_back(std::move(group.value()));
  }
  return groups;
}

}  // namespace gt
