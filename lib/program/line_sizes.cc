#include "program/line_sizes.h"

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "ops/table.h"
#include "program/piece_types.h"
#include "spmd/exchange_bytes.h"
#include "spmd/labels.h"
#include "spmd/sharded_value.h"
#include "stream/ranks.h"

namespace gt {
namespace {

// Returns for each rank, in ascending order, its place among them.
std::vector<size_t> ascending_places(const Ranks& ranks) {
  std::vector<size_t> places(ranks.size());
  std::iota(places.begin(), places.end(), 0);
  if (!std::ranges::is_sorted(ranks)) {
    std::ranges::sort(places, {}, [&](size_t i) { return ranks[i]; });
  }
  return places;
}

}  // namespace

LineSize LineSizes::take(const Line& line, const LineRanks& where) {
  limit();
  const Statement statement = statement_of(line.op);
  const Ranks ranks = ascending(where.ranks);
  LineSize size;
  size.bytes.resize(line.results.size(), std::vector<uint64_t>(ranks.size()));
  if (is_declaration(statement)) {
    known_.clear();
    (void)meshes_.take(line);
  } else if (statement == Statement::kFree) {
    free_all(line, where);
  }
  if (line.results.empty() || !is_placed(line)) return size;
  std::vector<TypeId> operands;
  for (size_t o = 0; o < line.operands.size(); ++o) {
    operands.push_back(where.operands[o].empty()
                           ? kNoType
                           : type_of(line.operands[o].text, where.operands[o]));
  }
  const std::string key = key_of(line, operands);
  auto known = known_.find(key);
  if (known == known_.end()) {
    known = known_.emplace(key, find(line, where, operands)).first;
  }
  size.seconds = known->second.seconds;
  for (size_t r = 0; r < line.results.size(); ++r) {
    unbind(line.results[r].text, ranks);
    const TypeId type = known->second.results[r];
    if (type == kNoType) continue;
    parts_[std::string(line.results[r].text)].push_back({ranks, type});
    for (size_t i = 0; i < ranks.size(); ++i) {
      size.bytes[r][i] = bytes_of(types_.piece(type, i));
    }
  }
  return size;
}

void LineSizes::limit() {
  if (known_.size() > kMostKnown || ranks_.size() > kMostKnown) {
    known_.clear();
    ranks_.clear();
  }
  if (types_.size() < kMost && parts_.size() < kMost) return;
  known_.clear();
  parts_.clear();
  types_.clear();
}

// ---- what names hold --------------------------------------------------------

void LineSizes::free_all(const Line& line, const LineRanks& where) {
  for (size_t o = 0; o < line.operands.size(); ++o) {
    const Operand& operand = line.operands[o];
    if (operand.kind == Operand::Kind::kGlob) {
      std::erase_if(parts_, [&](const auto& named) {
        return glob_matches(operand.text, named.first);
      });
    } else {
      unbind(operand.text, ascending(where.operands[o]));
    }
  }
}

void LineSizes::unbind(std::string_view name, const Ranks& ranks) {
  const auto it = parts_.find(name);
  if (it == parts_.end()) return;
  std::vector<Part> left;
  for (Part& part : it->second) {
    if (part.ranks == ranks) continue;
    const Ranks rest = without(part.ranks, ranks);
    if (rest.size() == part.ranks.size()) {
      left.push_back(std::move(part));
    } else if (!rest.empty()) {
      std::vector<TypeId> types;
      for (const int64_t rank : rest) types.push_back(piece_of({part}, rank));
      left.push_back({rest, types_.id(std::move(types))});
    }
  }
  if (left.empty()) {
    parts_.erase(it);
  } else {
    it->second = std::move(left);
  }
}

// Returns the type of the name's pieces on these ranks, in the order in which
// they are given, or kNoType if one of them is unknown.
TypeId LineSizes::type_of(std::string_view name, const Ranks& ranks) {
  const auto it = parts_.find(name);
  if (it == parts_.end()) return kNoType;
  for (const Part& part : it->second) {
    if (part.ranks == ranks) return part.type;
  }
  std::vector<TypeId> types;
  for (const int64_t rank : ranks) {
    types.push_back(piece_of(it->second, rank));
    if (types.back() == kNoType) return kNoType;
  }
  return types_.id(std::move(types));
}

TypeId LineSizes::piece_of(const std::vector<Part>& parts, int64_t rank) const {
  for (const Part& part : parts) {
    if (const auto place = place_in(part.ranks, rank)) {
      return types_.piece(part.type, *place);
    }
  }
  return kNoType;
}

// ---- what lines take --------------------------------------------------------

uint32_t LineSizes::number_of(std::string_view ranks) {
  const auto known = ranks_.find(ranks);
  if (known != ranks_.end()) return known->second;
  const auto number = static_cast<uint32_t>(ranks_.size());
  ranks_.emplace(ranks, number);
  return number;
}

// Returns everything on which the size of a line depends.
std::string LineSizes::key_of(const Line& line,
                              const std::vector<TypeId>& operands) {
  const std::string_view name = space_name(line);
  std::string key(name.substr(0, name.rfind('/') + 1));
  key += line.op;
  for (size_t o = 0; o < line.operands.size(); ++o) {
    const Operand& operand = line.operands[o];
    key += ' ';
    if (operand.kind == Operand::Kind::kName) {
      key += std::to_string(operands[o]) + "@" +
             std::to_string(number_of(operand.ranks));
    } else {
      key += operand.text;
    }
  }
  for (const Key& k : line.keys) {
    key += ' ';
    key += k.key;
    key += '=';
    key += k.value;
  }
  for (const Name& result : line.results) {
    key += ';';
    key += std::to_string(number_of(result.ranks));
  }
  return key;
}

// Returns the seconds of a line that crosses ranks: those of the group that
// takes longest.
double LineSizes::crossing_seconds(const Line& line, const LineRanks& where,
                                   const PieceType& types) const {
  const auto grid = grid_of(line, meshes_.of(line), where.ranks);
  if (!grid.ok()) return 0;
  const auto groups = crossings(line, where, grid.value(), types, {});
  if (!groups.ok()) return 0;
  double seconds = 0;
  for (const Crossing& group : groups.value()) {
    seconds = std::max(seconds, exchange_seconds(group, machine_));
  }
  return seconds;
}

LineSizes::Known LineSizes::find(const Line& line, const LineRanks& where,
                                 const std::vector<TypeId>& operands) {
  Known known;
  known.results.assign(line.results.size(), kNoType);
  for (size_t o = 0; o < line.operands.size(); ++o) {
    if (!where.operands[o].empty() && operands[o] == kNoType) return known;
  }
  if (statement_of(line.op) == Statement::kFail) return known;
  const PieceType types = [&](size_t operand, int64_t rank) -> const Type* {
    const Ranks& ranks = where.operands[operand];
    const size_t place = position_of(rank, ranks);
    if (place == ranks.size()) return nullptr;
    return &types_[types_.piece(operands[operand], place)];
  };
  const auto made =
      piece_types(line, where, meshes_.of(line), types, [&](const Call& call) {
        known.seconds = std::max(
            known.seconds, compute_seconds(machine_, flops(call), bytes(call)));
      });
  if (!made.ok()) return {0, std::move(known.results)};
  const std::vector<size_t> places = ascending_places(where.ranks);
  for (size_t r = 0; r < made.value().size(); ++r) {
    std::vector<TypeId> ids;
    for (const size_t i : places) {
      ids.push_back(types_.id(made.value()[r][i]));
    }
    known.results[r] = types_.id(std::move(ids));
  }
  if (crosses_ranks(line, where)) {
    known.seconds = crossing_seconds(line, where, types);
  }
  return known;
}

}  // namespace gt
