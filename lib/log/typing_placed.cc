// Lines with ranks: their price is that of all ranks together.
#include <unordered_map>

#include "log/typing.h"
#include "ops/table.h"

namespace gt {
namespace {

double bytes_of(const Type* type) {
  return type == nullptr ? 0 : static_cast<double>(type->bytes());
}

}  // namespace

void Typing::price_placed(Entry& entry) {
  const auto where = line_ranks(line_);
  if (!where.ok()) return;
  const LineRanks& ranks = where.value();
  Pieces pieces;
  for (size_t o = 0; o < line_.operands.size(); ++o) {
    std::vector<Slot*>& slots = pieces.operands.emplace_back();
    for (const int64_t rank : ranks.operands[o]) {
      slots.push_back(piece_of(line_.operands[o].text, rank));
      entry.reads.push_back({slots.back(), slots.back()->type});
    }
  }
  for (const Name& name : line_.results) {
    std::vector<Slot*>& slots = pieces.results.emplace_back();
    for (const int64_t rank : ranks.ranks) {
      slots.push_back(piece_of(name.text, rank));
      entry.writes.push_back({slots.back(), kNone});
    }
  }
  const Statement statement = statement_of(line_.op);
  if (statement == Statement::kFree) {
    for (const std::vector<Slot*>& slots : pieces.operands) {
      for (Slot* slot : slots) entry.writes.push_back({slot, kNone});
    }
    entry.priced.typed = true;
    return;
  }
  entry.priced.typed =
      statement == Statement::kFail || price_ranks(ranks, pieces, entry).ok();
  if (!entry.priced.typed) entry.priced.bytes = entry.priced.flops = 0;
}

Status Typing::price_ranks(const LineRanks& where, const Pieces& pieces,
                           Entry& entry) {
  for (const Use& use : entry.reads) {
    if (use.type == kNone) return Error{"a piece has no type"};
  }
  std::vector<std::unordered_map<int64_t, Slot*>> by_rank;
  for (size_t o = 0; o < where.operands.size(); ++o) {
    auto& slots = by_rank.emplace_back();
    for (size_t i = 0; i < where.operands[o].size(); ++i) {
      slots.emplace(where.operands[o][i], pieces.operands[o][i]);
    }
  }
  const PieceType types = [&](size_t operand, int64_t rank) -> const Type* {
    const auto it = by_rank[operand].find(rank);
    return it == by_rank[operand].end() ? nullptr : types_[it->second->type];
  };
  if (is_output(statement_of(line_.op))) {
    for (const Use& use : entry.reads) {
      entry.priced.bytes += bytes_of(types_[use.type]);
    }
    return ok_status();
  }
  if (!crosses_ranks(line_, where)) {
    return price_locally(where, types, pieces, entry);
  }
  const auto made = infer_placed(line_, where, meshes_.of(line_), types);
  if (!made.ok()) return made.error();
  for (const Use& use : entry.reads) {
    entry.priced.bytes += bytes_of(types_[use.type]);
  }
  entry.writes.clear();
  for (size_t r = 0; r < made.value().size(); ++r) {
    for (size_t i = 0; i < made.value()[r].size(); ++i) {
      const Type& type = made.value()[r][i];
      entry.priced.bytes += bytes_of(&type);
      entry.writes.push_back({pieces.results[r][i], intern(type)});
    }
  }
  return ok_status();
}

// A line that each rank runs by itself.
Status Typing::price_locally(const LineRanks& where, const PieceType& types,
                             const Pieces& pieces, Entry& entry) {
  const auto grid = grid_of(line_, meshes_.of(line_), where.ranks);
  if (!grid.ok()) return grid.error();
  const auto plan = local_plan(line_, grid.value());
  if (!plan.ok()) return plan.error();
  std::vector<Use> writes;
  for (size_t i = 0; i < where.ranks.size(); ++i) {
    operand_types_.clear();
    for (size_t o = 0; o < line_.operands.size(); ++o) {
      operand_types_.push_back(
          where.operands[o].empty() ? nullptr : types(o, where.ranks[i]));
    }
    const Status s = bind_local(plan.value(), plan.value().variant_of[i],
                                operand_types_, call_);
    if (!s.ok()) return s;
    entry.priced.bytes += bytes(call_);
    entry.priced.flops += flops(call_);
    for (size_t r = 0; r < call_.results.size(); ++r) {
      writes.push_back({pieces.results[r][i], intern(call_.results[r])});
    }
  }
  entry.writes = std::move(writes);
  return ok_status();
}

}  // namespace gt
