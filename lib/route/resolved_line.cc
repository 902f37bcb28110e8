#include "route/resolved_line.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ops/suggest.h"
#include "ops/table.h"
#include "program/costs.h"
#include "spmd/labels.h"
#include "stream/ranks.h"

namespace gt::route {
namespace {

using Id = TypeId;

void add_once(ResolvedLine::Found& found, SymbolId id) {
  if (std::ranges::find(found, id) == found.end()) found.push_back(id);
}

}  // namespace

bool is_register(const Operand& operand) {
  return operand.kind == Operand::Kind::kName;
}

ResolvedLine::ResolvedLine(const Line& text, const ValueLocations& locations,
                           const TypeIds& types)
    : parsed(text),
      op(find_op(text.op)),
      statement(op == nullptr ? Statement::kCompute : op->row->statement),
      is_placed(gt::is_placed(text)),
      locations_(locations),
      types_(types) {}

Status ResolvedLine::set_ranks(const Meshes& meshes, const RankTable& table) {
  if (!is_placed) return ok_status();
  auto ranks = line_ranks(parsed);
  if (!ranks.ok()) return ranks.error();
  where = std::move(ranks.value());
  mesh = meshes.of(parsed);
  space = table.space_of(space_name(parsed));
  auto made = grid_of(parsed, mesh, where.ranks);
  if (!made.ok()) return made.error();
  grid = std::move(made.value());
  return ok_status();
}

Status ResolvedLine::find_operands(Found& found) {
  for (size_t o = 0; o < parsed.operands.size(); ++o) {
    const Operand& operand = parsed.operands[o];
    if (is_placed) {
      if (!is_register(operand)) continue;
      if (Status s = find_pieces(o, found); !s.ok()) return s;
      continue;
    }
    alone_.push_back(is_register(operand) ? locations_.find(operand.text)
                                          : kNoSymbol);
    if (!is_register(operand)) continue;
    if (alone_.back() == kNoSymbol) {
      return unknown_name(parsed, o, {}, locations_.some_live_names());
    }
    add_once(found, alone_.back());
  }
  return ok_status();
}

Status ResolvedLine::find_pieces(size_t operand, Found& found) const {
  const std::string_view base = parsed.operands[operand].text;
  const Ranks& wanted = ranks_read(parsed, where, operand);
  const Ranks sorted = ascending(wanted);
  size_t pieces = 0;
  for (const SymbolId id : locations_.parts(base)) {
    const size_t shared = common(*locations_[id].ranks, sorted).size();
    if (shared > 0) add_once(found, id);
    pieces += shared;
  }
  if (pieces == wanted.size()) return ok_status();
  const bool is_whole = std::all_of(
      wanted.begin(), wanted.end(),
      [&](int64_t rank) { return type_on(operand, rank) != kNoType; });
  if (is_whole) return ok_status();
  return unknown_name(parsed, operand, sorted, locations_.some_live_names());
}

const Ranks& ResolvedLine::ranks() const {
  static const Ranks kAlone{0};
  return is_placed ? where.ranks : kAlone;
}

std::span<const SymbolId> ResolvedLine::registers(size_t operand) const {
  if (is_placed) return locations_.parts(parsed.operands[operand].text);
  if (operand >= alone_.size() || alone_[operand] == kNoSymbol) return {};
  return {&alone_[operand], 1};
}

Id ResolvedLine::type_on(size_t operand, int64_t rank) const {
  return locations_.piece(registers(operand), rank, types_);
}

ResolvedLine::Types ResolvedLine::types_on(int64_t rank) const {
  Types out;
  const PieceType type = piece_types();
  for (size_t o = 0; o < parsed.operands.size(); ++o) {
    out.push_back(is_register(parsed.operands[o]) ? type(o, rank) : nullptr);
  }
  return out;
}

PieceType ResolvedLine::piece_types() const {
  return [this](size_t operand, int64_t rank) -> const Type* {
    Id type = type_on(operand, rank);
    for (const int64_t other : ranks()) {
      if (type != kFailedType) break;
      type = type_on(operand, other);
    }
    return type == kNoType || type == kFailedType ? nullptr : &types_[type];
  };
}

FailureText ResolvedLine::failure_in(size_t operand, const Ranks& ranks) const {
  if (!locations_.has_failures()) return nullptr;
  for (const int64_t rank : ranks) {
    for (const SymbolId id : registers(operand)) {
      if (ValueLocations::piece_of(locations_[id], rank, types_) ==
          kFailedType) {
        return locations_.failure_of(id);
      }
    }
  }
  return nullptr;
}

ResolvedLine::Failures ResolvedLine::failures() const {
  Failures out;
  if (!locations_.has_failures()) return out;
  const Ranks& all = ranks();
  out.ranks.resize(all.size());
  for (size_t o = 0; o < parsed.operands.size(); ++o) {
    if (!is_register(parsed.operands[o])) continue;
    for (size_t p = 0; p < all.size(); ++p) {
      if (type_on(o, all[p]) == kFailedType) out.ranks[p] = true;
    }
    if (out.why == nullptr) out.why = failure_in(o, all);
  }
  out.all = std::ranges::all_of(out.ranks, [](bool failed) { return failed; });
  return out;
}

uint64_t ResolvedLine::cost_of_rank(size_t workers) const {
  const auto plan = local_plan(parsed, *grid);
  if (!plan.ok()) return 0;
  Call call;
  const Types read = types_on(where.ranks[0]);
  const Status bound = bind_local(plan.value(), plan.value().variant_of[0],
                                  std::span(read.data(), read.size()), call);
  if (!bound.ok()) return 0;
  const auto all = static_cast<double>(where.ranks.size());
  return line_cost(call, std::max(1.0, all / static_cast<double>(workers)));
}

}  // namespace gt::route
