#include "spmd/placed.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/message.h"
#include "base/text.h"
#include "ops/part.h"
#include "ops/shape_rules.h"
#include "ops/table.h"
#include "spmd/collective.h"
#include "spmd/specs.h"
#include "spmd/stated.h"
#include "stream/ranks.h"

namespace gt {
namespace {

bool is_subset(const std::vector<int64_t>& part,
               const std::vector<int64_t>& all) {
  if (part == all) return true;
  const std::unordered_set<int64_t> known(all.begin(), all.end());
  return std::all_of(part.begin(), part.end(),
                     [&](int64_t r) { return known.count(r) > 0; });
}

Result<std::vector<int64_t>> ranks_of(const Line& line, std::string_view text,
                                      uint32_t column) {
  auto ranks = parse_ranks(text);
  if (!ranks.ok()) return at(column, line, ranks.error().message);
  return ranks;
}

void drop_key(Line& line, std::string_view name) {
  const int i = key_at(line, name);
  if (i >= 0) line.keys.erase(line.keys.begin() + i);
}

LocalLine make_variant(const Line& line, const Op& op, const Whole& whole,
                       const Region& region) {
  LocalLine local(line, region);
  const auto keep = [&](std::string text) {
    local.text.push_back(std::move(text));
    return std::string_view(local.text.back());
  };
  drop_key(local.line, "split");
  if (whole.operand >= 0) {
    local.line.operands[static_cast<size_t>(whole.operand)].text =
        keep(to_string(Type{whole.dtype, region.count}));
  } else if (states_sizes(op)) {
    local.line.keys[static_cast<size_t>(key_at(local.line, "shape"))].value =
        keep(list_text(region.count));
  } else {
    drop_key(local.line, "shape");
  }
  // Beside split=, rows= is that of the whole, as shape= is: along axis=, or 0.
  if (const int rows = key_at(local.line, "rows"); rows >= 0) {
    int64_t axis = 0;
    if (const auto* text = line.key("axis")) read_number(*text, axis);
    axis = normal_axis(axis, region.count.size());
    local.line.keys[static_cast<size_t>(rows)].value = keep(
        std::to_string(axis < 0 ? 0 : region.count[static_cast<size_t>(axis)]));
  }
  // Heads divide the last dimension, and are cut with it.
  if (const int heads = key_at(local.line, "heads");
      heads >= 0 && !whole.shape.empty() && whole.shape.back() > 0) {
    Key& key = local.line.keys[static_cast<size_t>(heads)];
    int64_t count = 0;
    if (read_number(key.value, count) && count > 0 &&
        whole.shape.back() % count == 0) {
      const int64_t depth = whole.shape.back() / count;
      key.value = keep(
          std::to_string(std::max<int64_t>(1, region.count.back() / depth)));
    }
  }
  if (op.key_index("part") >= 0 && !(region.count == whole.shape)) {
    local.line.keys.push_back(
        {"part", keep(to_string(region.start) + "/" + to_string(whole.shape)),
         line.op_column});
  }
  return local;
}

}  // namespace

Status check_mixed(const Line& line) {
  for (const Name& name : line.results) {
    if (!name.ranks.empty()) continue;
    return at(name.column, line,
              "'" + std::string(name.text) +
                  "' has no ranks, but other names of the line have; write " +
                  std::string(name.text) + "@ and the ranks");
  }
  for (const Operand& operand : line.operands) {
    if (!is_name(operand) || !operand.ranks.empty()) continue;
    return at(operand.column, line,
              "'" + std::string(operand.text) +
                  "' has no ranks, but other names of the line have; write " +
                  std::string(operand.text) + "@ and the ranks");
  }
  return ok_status();
}

Result<LineRanks> line_ranks(const Line& line) {
  if (Status s = check_mixed(line); !s.ok()) return s.error();
  LineRanks where;
  const Name* first = line.results.empty() ? nullptr : &line.results[0];
  for (const Name& name : line.results) {
    auto ranks = ranks_of(line, name.ranks, name.column);
    if (!ranks.ok()) return ranks.error();
    if (&name == first) where.ranks = ranks.value();
    if (ranks.value() == where.ranks) continue;
    return at(name.column, line,
              "results live on ranks " + std::string(first->ranks) + " and " +
                  std::string(name.ranks) + "; a line has one set");
  }
  bool known = first != nullptr;
  for (const Operand& operand : line.operands) {
    where.operands.emplace_back();
    if (!is_name(operand)) continue;
    auto ranks = ranks_of(line, operand.ranks, operand.column);
    if (!ranks.ok()) return ranks.error();
    where.operands.back() = ranks.value();
    if (!known ||
        (first == nullptr && statement_of(line.op) == Statement::kFree)) {
      if (!known) where.ranks = ranks.value();
      known = true;
      continue;
    }
    if (collective_of(line.op) == Collective::kCopy ||
        is_subset(where.ranks, ranks.value())) {
      continue;
    }
    return at(operand.column, line,
              "'" + std::string(operand.text) + "' is wanted on ranks " +
                  to_string(where.ranks) +
                  ", where the line runs, but read "
                  "on " +
                  std::string(operand.ranks) + "; copy it there first");
  }
  return where;
}

const Ranks& ranks_read(const Line& line, const LineRanks& where, size_t o) {
  const bool as_written =
      line.results.empty() || collective_of(line.op) == Collective::kCopy;
  return as_written ? where.operands[o] : where.ranks;
}

Result<Grid> grid_of(const Line& line, const Mesh* mesh,
                     const std::vector<int64_t>& ranks) {
  const bool names_axes = key_at(line, "split") >= 0 ||
                          key_at(line, "over") >= 0 || states_specs(line);
  auto grid = Grid::make(names_axes ? mesh : nullptr, ranks);
  return grid.ok() ? grid : at_op(line, grid.error().message);
}

Result<LocalPlan> local_plan(const Line& line, const Grid& grid) {
  LocalPlan plan;
  const std::string_view* split_text = line.key("split");
  const Op* op = find_op(line.op);
  const bool splits =
      split_text != nullptr && op != nullptr && op->key_index("split") >= 0;
  if (!splits) {
    if (op != nullptr && split_text == nullptr &&
        line.key("shape") != nullptr && op->key_index("split") >= 0 &&
        !states_sizes(*op)) {
      return at_op(line, "shape= states the whole that split= cuts; give both");
    }
    plan.variants.emplace_back(line, Region{});
    plan.variant_of.assign(grid.size(), 0);
    return plan;
  }
  plan.has_split = true;
  const auto split = parse_split(unquote(*split_text));
  if (!split.ok()) return at_op(line, split.error().message);
  const auto whole = find_whole(line);
  if (!whole.ok()) return whole.error();
  const auto regions = cut(split.value(), whole.value().shape, grid);
  if (!regions.ok()) return at_op(line, regions.error().message);
  // Only ops that take part= compute something else if a part begins elsewhere.
  const bool by_place = op->key_index("part") >= 0;
  std::map<std::vector<int64_t>, uint32_t> known;
  std::vector<int64_t> key;
  for (const Region& region : regions.value()) {
    key.assign(region.count.begin(), region.count.end());
    if (by_place) {
      key.insert(key.end(), region.start.begin(), region.start.end());
    }
    const auto [it, fresh] =
        known.try_emplace(key, static_cast<uint32_t>(plan.variants.size()));
    plan.variant_of.push_back(it->second);
    if (!fresh) continue;
    plan.variants.push_back(make_variant(line, *op, whole.value(), region));
  }
  return plan;
}

Status check_region(const Line& line, const LocalLine& variant,
                    const Shape& piece) {
  if (piece == variant.region.count) return ok_status();
  return at_op(line, "split= gives a rank [" + to_string(variant.region.count) +
                         "] of the whole, but its piece is [" +
                         to_string(piece) + "]");
}

Status bind_local(const LocalPlan& plan, uint32_t variant,
                  std::span<const Type* const> types, Call& call) {
  const LocalLine& local = plan.variants[variant];
  if (Status s = gt::bind(local.line, types, call); !s.ok()) return s;
  if (!plan.has_split) return ok_status();
  return check_region(local.line, local, part_block(call));
}

namespace {

constexpr size_t kVariants = 16;  // groups that are remembered

Result<std::vector<Type>> types_given(const Line& line, const Crossing& group) {
  auto made = group_types(plan_here(group));
  return made.ok() ? made : at_op(line, made.error().message);
}

Result<std::vector<std::vector<Type>>> infer_crossing(const Line& line,
                                                      const LineRanks& where,
                                                      const Grid& grid,
                                                      const PieceType& types) {
  if (states_specs(line)) {
    auto made = redistributed(line, grid, types);
    if (!made.ok()) return made.error();
    return std::vector<std::vector<Type>>{std::move(made.value())};
  }
  const auto groups = crossings(line, where, grid, types, {});
  if (!groups.ok()) return groups.error();
  std::vector<Type> results(where.ranks.size());
  std::unordered_map<int64_t, size_t> position;
  for (size_t p = 0; p < where.ranks.size(); ++p) position[where.ranks[p]] = p;
  // Most groups are alike.
  std::vector<std::pair<const Crossing*, std::vector<Type>>> known;
  for (const Crossing& group : groups.value()) {
    auto made = std::find_if(known.begin(), known.end(), [&](const auto& k) {
      return k.first->pieces == group.pieces && k.first->form == group.form;
    });
    if (made == known.end()) {
      auto given = types_given(line, group);
      if (!given.ok()) return given.error();
      if (known.size() == kVariants) known.erase(known.begin());
      known.emplace_back(&group, std::move(given.value()));
      made = known.end() - 1;
    }
    for (size_t i = 0; i < group.targets.size(); ++i) {
      results[position.at(group.targets[i])] = made->second[i];
    }
  }
  return std::vector<std::vector<Type>>{std::move(results)};
}

bool same_types(const std::vector<const Type*>& a,
                const std::vector<const Type*>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const Type* x, const Type* y) {
        return x == y || (x != nullptr && y != nullptr && *x == *y);
      });
}

}  // namespace

Result<std::vector<std::vector<Type>>> infer_placed(const Line& line,
                                                    const LineRanks& where,
                                                    const Mesh* mesh,
                                                    const PieceType& types) {
  const auto grid = grid_of(line, mesh, where.ranks);
  if (!grid.ok()) return grid.error();
  if (crosses_ranks(line, where)) {
    return infer_crossing(line, where, grid.value(), types);
  }
  const auto plan = local_plan(line, grid.value());
  if (!plan.ok()) return plan.error();
  std::vector<std::vector<Type>> results(line.results.size());
  for (auto& of_ranks : results) of_ranks.reserve(where.ranks.size());
  Call call;
  std::vector<const Type*> operands, last;
  uint32_t last_variant = UINT32_MAX;
  for (size_t p = 0; p < where.ranks.size(); ++p) {
    operands.clear();
    for (size_t o = 0; o < line.operands.size(); ++o) {
      operands.push_back(is_name(line.operands[o]) ? types(o, where.ranks[p])
                                                   : nullptr);
    }
    const uint32_t variant = plan.value().variant_of[p];
    if (variant != last_variant || !same_types(operands, last)) {
      if (Status s = bind_local(plan.value(), variant, operands, call);
          !s.ok()) {
        return s.error();
      }
      last_variant = variant;
      last = operands;
    }
    for (size_t r = 0; r < results.size(); ++r) {
      results[r].push_back(call.results[r]);
    }
  }
  return results;
}

}  // namespace gt
