#include "program/walker.h"

#include <algorithm>

#include "ops/table.h"
#include "spmd/sharded_value.h"
#include "stream/ranks.h"

namespace gt {

const WalkedLine& Walker::take(const Line& line, const Visitor& visit) {
  read(line, visit, walked_);
  bind(walked_);
  return walked_;
}

void Walker::read(const Line& line, const Visitor& visit, WalkedLine& out) {
  limit();
  symbols_.begin_line();
  out.is_typed = false;
  out.is_lasting = true;
  out.reads.clear();
  out.writes.clear();
  out.statement = statement_of(line.op);
  if (is_declaration(out.statement)) {
    out.is_lasting = false;
    out.is_typed = meshes_.take(line).ok();
  } else if (is_placed(line)) {
    read_placed(line, visit, out);
  } else {
    read_unplaced(line, visit, out);
  }
}

void Walker::bind(const WalkedLine& line) {
  for (const WalkedPart& write : line.writes) {
    symbols_[write.symbol].stamp.type = write.stamp.type;
    if (write.stamp.type == kNoType) symbols_.retire(write.symbol);
  }
}

bool Walker::still_holds(const WalkedLine& line) const {
  return std::all_of(line.reads.begin(), line.reads.end(),
                     [this](const WalkedPart& read) {
                       return symbols_[read.symbol].stamp == read.stamp;
                     }) &&
         std::all_of(line.writes.begin(), line.writes.end(),
                     [this](const WalkedPart& write) {
                       return symbols_[write.symbol].stamp.generation ==
                              write.stamp.generation;
                     });
}

bool Walker::is_past(const WalkedLine& line) const {
  const auto is_other = [this](const WalkedPart& part) {
    return symbols_[part.symbol].stamp.generation != part.stamp.generation;
  };
  return std::any_of(line.reads.begin(), line.reads.end(), is_other) ||
         std::any_of(line.writes.begin(), line.writes.end(), is_other);
}

const Type* Walker::type_of(const Name& name) const {
  const StampedValue* held = nullptr;
  if (name.ranks.empty()) {
    held = symbols_.value_of(name.text);
  } else if (const auto ranks = parse_ranks(name.ranks); ranks.ok()) {
    held = symbols_.value_of(
        full_name(name.text, std::to_string(ranks.value()[0])));
  }
  return held == nullptr ? nullptr : &types_[held->stamp.type];
}

void Walker::limit() {
  if (symbols_.size() < kMaxNames && types_.size() < kMaxTypes) return;
  symbols_ = {};
  types_.clear();
  ++forgotten_;
}

// ---- parts ------------------------------------------------------------------

SymbolId Walker::obtain(std::string_view name, int64_t rank) {
  return rank < 0 ? symbols_.obtain(name)
                  : symbols_.obtain(full_name(name, std::to_string(rank)));
}

void Walker::add_read(std::string_view name, size_t operand, int64_t rank,
                      WalkedLine& out) {
  const SymbolId id = obtain(name, rank);
  if (!symbols_[id].is_live()) symbols_.retire(id);
  out.reads.push_back(
      {static_cast<uint32_t>(operand), rank, id, symbols_[id].stamp});
}

void Walker::add_write(std::string_view name, size_t result, int64_t rank,
                       TypeId type, WalkedLine& out) {
  const SymbolId id = obtain(name, rank);
  out.writes.push_back({static_cast<uint32_t>(result),
                        rank,
                        id,
                        {type, symbols_[id].stamp.generation}});
}

void Walker::free_names(const Line& line, WalkedLine& out) const {
  out.is_typed = true;
  out.writes = out.reads;
  for (WalkedPart& write : out.writes) write.stamp.type = kNoType;
  for (const Operand& operand : line.operands) {
    if (operand.kind != Operand::Kind::kGlob) continue;
    out.is_lasting = false;  // the names that the glob matches change
    for (SymbolId id = 0; id < symbols_.size(); ++id) {
      const bool is_meant =
          symbols_[id].is_live() &&
          glob_matches(operand.text, without_ranks(symbols_.name_of(id)));
      if (is_meant) out.writes.push_back({0, -1, id, {}});
    }
  }
}

// ---- lines without ranks ----------------------------------------------------

void Walker::read_unplaced(const Line& line, const Visitor& visit,
                           WalkedLine& out) {
  operand_types_.assign(line.operands.size(), nullptr);
  bool is_known = true;
  for (size_t o = 0; o < line.operands.size(); ++o) {
    if (line.operands[o].kind != Operand::Kind::kName) continue;
    add_read(line.operands[o].text, o, -1, out);
    const TypeId type = out.reads.back().stamp.type;
    is_known &= type != kNoType;
    if (type != kNoType) operand_types_[o] = &types_[type];
  }
  if (out.statement == Statement::kFree) return free_names(line, out);
  std::vector<Type> types;
  if (out.statement == Statement::kGrad) {
    // The results have the types of the targets, which follow the loss.
    for (size_t o = 1; o < operand_types_.size(); ++o) {
      if (operand_types_[o] == nullptr) break;
      types.push_back(*operand_types_[o]);
    }
  } else if (out.statement == Statement::kFail) {
    out.is_typed = true;
  } else if (is_known && gt::bind(line, operand_types_, call_).ok()) {
    out.is_typed = true;
    if (visit) visit(call_);
    types.assign(call_.results.begin(), call_.results.end());
  }
  const bool has_all = types.size() == line.results.size();
  for (size_t r = 0; r < line.results.size(); ++r) {
    add_write(line.results[r].text, r, -1,
              has_all ? types_.id(types[r]) : kNoType, out);
  }
}

// ---- lines with ranks -------------------------------------------------------

void Walker::read_placed(const Line& line, const Visitor& visit,
                         WalkedLine& out) {
  const auto where = line_ranks(line);
  if (!where.ok()) return;
  for (size_t o = 0; o < line.operands.size(); ++o) {
    for (const int64_t rank : where.value().operands[o]) {
      add_read(line.operands[o].text, o, rank, out);
    }
  }
  if (out.statement == Statement::kFree) return free_names(line, out);
  out.is_typed = out.statement == Statement::kFail ||
                 infer_ranks(line, where.value(), visit, out).ok();
  if (!out.writes.empty()) return;
  for (size_t r = 0; r < line.results.size(); ++r) {
    for (const int64_t rank : where.value().ranks) {
      add_write(line.results[r].text, r, rank, kNoType, out);
    }
  }
}

Status Walker::infer_ranks(const Line& line, const LineRanks& where,
                           const Visitor& visit, WalkedLine& out) {
  std::vector<size_t> first(line.operands.size());  // its place in out.reads
  for (size_t i = out.reads.size(); i > 0; --i) {
    const WalkedPart& read = out.reads[i - 1];
    if (read.stamp.type == kNoType) return Error{"a piece has no type"};
    first[read.place] = i - 1;
  }
  const PieceType types = [&](size_t operand, int64_t rank) -> const Type* {
    const size_t place = position_of(rank, where.operands[operand]);
    if (place == where.operands[operand].size()) return nullptr;
    return &types_[out.reads[first[operand] + place].stamp.type];
  };
  const auto made = piece_types(line, where, meshes_.of(line), types, visit);
  if (!made.ok()) return made.error();
  for (size_t r = 0; r < made.value().size(); ++r) {
    for (size_t i = 0; i < made.value()[r].size(); ++i) {
      add_write(line.results[r].text, r, where.ranks[i],
                types_.id(made.value()[r][i]), out);
    }
  }
  return ok_status();
}

}  // namespace gt
