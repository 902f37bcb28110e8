#include "emit/seeds.h"

#include <algorithm>

#include "spmd/join.h"
#include "stream/ranks.h"

namespace gt::emit {

// Returns the number at which a register begins. Lines without ranks count in
// one register, lines with ranks in another, since no line reads both. The one
// that the program needs first begins at --seed, so that a program has the same
// numbers as one that is placed as a whole. `has_other`: the program has bound
// the other register.
std::string Seeds::first(Kind kind, bool has_other) {
  constexpr uint64_t kFar = uint64_t{1} << 62;
  const Kind other = kind == Kind::kPlaced ? Kind::kUnplaced : Kind::kPlaced;
  if (begins_at_first_ == Kind::kNone) {
    begins_at_first_ = has_other ? other : kind;
  }
  const uint64_t first =
      static_cast<uint64_t>(first_) ^ (begins_at_first_ == kind ? 0 : kFar);
  return std::to_string(static_cast<int64_t>(first));
}

bool Seeds::is_read(const Line& line) {
  return std::any_of(line.operands.begin(), line.operands.end(),
                     [](const Operand& o) {
                       return o.kind == Operand::Kind::kName && o.text == kName;
                     });
}

void Seeds::complete(LineState& state, std::string& out) {
  state.adds_seed = true;
  Operand seed{Operand::Kind::kName, 0, kName, {}};
  if (is_placed(state.line)) {
    begin(ascending(state.where.ranks), state.mesh, out);
    state.added_texts.push_back(to_string(state.where.ranks));
    seed.ranks = state.added_texts.back();
    state.where.operands.push_back(state.where.ranks);
  } else {
    begin(out);
    state.added_texts.emplace_back(kName);
  }
  state.line.operands.push_back(seed);
}

void Seeds::advance(const LineState& state, std::string& out) {
  if (is_placed(state.line)) {
    advance_placed(state, out);
  } else {
    advance_unplaced(state, out);
  }
}

// ---- what a program binds it to ---------------------------------------------

namespace {

constexpr Type kCount{Dtype::kI64, {}};

Error no_count(const Name& name, const Type& type) {
  return Error{
      std::string(name.text) +
          " counts the seeds that are left out, and is an i64[], not " +
          to_string(type),
      name.column};
}

}  // namespace

Status Seeds::check(const LineState& state,
                    const std::vector<Type>& results) const {
  for (size_t r = 0; r < results.size(); ++r) {
    const Name& name = state.line.results[r];
    if (name.text != kName || results[r] == kCount) continue;
    return no_count(name, results[r]);
  }
  return ok_status();
}

Status Seeds::check(const LineState& state,
                    const std::vector<grad::PlacedType>& results) const {
  for (size_t r = 0; r < results.size(); ++r) {
    const Name& name = state.line.results[r];
    if (name.text != kName) continue;
    for (const Type& type : results[r].types) {
      if (type != kCount) return no_count(name, type);
    }
    for (const SymbolId id : ledger_.symbols.parts(kName)) {
      const Ranks rest = without(*ledger_.symbols[id].ranks, results[r].ranks);
      if (rest.empty()) continue;
      return Error{"all ranks count seeds together: " +
                       full_name(kName, to_string(rest)) +
                       " would count from another number; bind these ranks too",
                   name.column};
    }
  }
  return ok_status();
}

void Seeds::let_go(std::string_view name, std::string_view ranks) {
  if (name != kName) return;
  if (!ranks.empty()) {
    for (const SymbolId id : ledger_.symbols.parts(kName)) {
      let_go(ledger_.symbols[id].value);
    }
  } else if (const SymbolId id = ledger_.symbols.find(kName); id != kNoSymbol) {
    let_go(ledger_.symbols[id].value);
  }
}

// A register that the program itself bound has no internal read that holds it.
void Seeds::let_go(ValueId seed) {
  if (seed == kNil || !ledger_.tape.is_internal(seed)) return;
  ledger_.tape.make_users(seed);
  ledger_.tape.drop_read(seed);
}

// ---- without ranks ----------------------------------------------------------

void Seeds::begin(std::string& out) {
  if (ledger_.symbols.find(kName) != kNoSymbol) return;
  const bool has_other = !ledger_.symbols.parts(kName).empty();
  out += std::string(kName) + " = tensor i64[] " +
         first(Kind::kUnplaced, has_other) + "\n";
  hold(ledger_.obtain(kName), {});
}

void Seeds::hold(SymbolId seed, Origin origin) {
  const ValueId v =
      ledger_.tape.add_leaf(ledger_.types.id(kCount), false, origin);
  ledger_.tape.hold(v, seed, true);
  ledger_.tape.add_read(v);  // keeps the register
  ledger_.set(seed, v, origin);
}

void Seeds::advance_unplaced(const LineState& state, std::string& out) {
  const SymbolId seed = ledger_.symbols.find(kName);
  let_go(ledger_.symbols[seed].value);
  ledger_.release(seed, state.origin, out);
  out += std::string(kName) + " = add " + std::string(kName) + " 1" +
         writer_.at_note(state) + "\n";
  hold(seed, state.origin);
}

// ---- with ranks -------------------------------------------------------------

// The register counts the uses of the whole program, on whatever ranks they
// are: each rank that used a seed has the register, and all advance together.
void Seeds::begin(const Ranks& ranks, const Mesh* mesh, std::string& out) {
  const auto reads = ledger_.find_pieces(kName, ranks);
  if (reads.missing.empty()) return;
  const std::vector<SymbolId> known = ledger_.symbols.parts(kName);
  out += full_name(kName, to_string(reads.missing));
  if (known.empty()) {
    const bool has_other = ledger_.symbols.find(kName) != kNoSymbol;
    out += " = tensor i64[] " + first(Kind::kPlaced, has_other) + "\n";
  } else {
    const int64_t from = (*ledger_.symbols[known[0]].ranks)[0];
    out += " = copy " + full_name(kName, std::to_string(from)) + "\n";
  }
  Ranks all = reads.missing;
  for (const SymbolId id : known) {
    all = together(all, *ledger_.symbols[id].ranks);
  }
  keep(all, mesh, out);
}

void Seeds::keep(const Ranks& ranks, const Mesh* mesh, std::string& out) {
  grad::PlacedType type{ranks, {kCount}, {}, Placement{}};
  if (mesh != nullptr) {
    for (const MeshAxis* axis : axes_within(*mesh, ranks)) {
      type.letters.set(*axis, 'R');
      type.global->set(*axis, 'R');
    }
  }
  const ValueId v =
      ledger_.tape.add_leaf(ledger_.types.id(std::move(type)), false, {});
  for (const SymbolId id : ledger_.symbols.parts(kName)) {
    let_go(ledger_.symbols[id].value);
  }
  ledger_.tape.add_read(v);  // keeps the register
  ledger_.bind(kName, ranks, v, true, {}, out);
}

void Seeds::advance_placed(const LineState& state, std::string& out) {
  Ranks all;
  for (const SymbolId id : ledger_.symbols.parts(kName)) {
    all = together(all, *ledger_.symbols[id].ranks);
    let_go(ledger_.symbols[id].value);
  }
  // A gradient may need the seed that was used.
  ledger_.unbind(kName, all, state.origin, out);
  const std::string name = full_name(kName, to_string(all));
  out += name + " = add " + name + " 1" + writer_.at_note(state) + "\n";
  keep(all, state.mesh, out);
}

}  // namespace gt::emit
