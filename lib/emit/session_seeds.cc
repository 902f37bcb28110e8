// The registers that stand in for the seeds that a program leaves out.
#include <algorithm>

#include "emit/session.h"
#include "stream/ranks.h"

namespace gt {

// Lines without ranks count in one register, lines with ranks in another, since
// no line reads both. The second of them begins half the range of an i64 away,
// so that no two uses meet; the first at --seed, so that a program has the
// numbers of one that is placed as a whole.
std::string Session::first_seed(bool is_second) const {
  constexpr uint64_t kFar = uint64_t{1} << 62;
  const uint64_t first =
      static_cast<uint64_t>(options_.seed) ^ (is_second ? kFar : 0);
  return std::to_string(static_cast<int64_t>(first));
}

// Whether the line reads the register by its name. Then it must be there, also
// before a seed is left out for the first time.
bool Session::names_seed() const {
  return std::any_of(
      line_.operands.begin(), line_.operands.end(), [](const Operand& o) {
        return o.kind == Operand::Kind::kName && o.text == kSeedName;
      });
}

namespace {

Error no_count(const Name& name, const Type& type) {
  return Error{
      std::string(name.text) +
          " counts the seeds that are left out, and is an i64[], not " +
          to_string(type),
      name.column};
}

}  // namespace

// What a program binds the register to must be a count.
Status Session::check_seed(const std::vector<Type>& results) const {
  for (size_t r = 0; r < results.size(); ++r) {
    const Name& name = line_.results[r];
    if (name.text != kSeedName || results[r] == Type{Dtype::kI64, {}}) continue;
    return no_count(name, results[r]);
  }
  return ok_status();
}

// And the same one on all ranks that have it.
Status Session::check_placed_seed(
    const std::vector<PlacedType>& results) const {
  for (size_t r = 0; r < results.size(); ++r) {
    const Name& name = line_.results[r];
    if (name.text != kSeedName) continue;
    for (const Type& type : results[r].types) {
      if (type != Type{Dtype::kI64, {}}) return no_count(name, type);
    }
    for (const SymbolId id : ledger_.symbols.pieces(kSeedName)) {
      const Ranks rest = without(ledger_.symbols[id].ranks, results[r].ranks);
      if (rest.empty()) continue;
      return Error{"all ranks count seeds together: " +
                       with_ranks(kSeedName, to_string(rest)) +
                       " would count from another number; bind these ranks too",
                   name.column};
    }
  }
  return ok_status();
}

// A line binds or frees the name: no read of ours holds its value any more.
void Session::let_go_seed(std::string_view name, std::string_view ranks) {
  if (name != kSeedName) return;
  if (!ranks.empty()) {
    for (const SymbolId id : ledger_.symbols.pieces(kSeedName)) {
      let_go_seed(ledger_.symbols[id].value);
    }
  } else if (const SymbolId id = ledger_.symbols.find(kSeedName); id != kNil) {
    let_go_seed(ledger_.symbols[id].value);
  }
}

// ---- without ranks ---------------------------------------------------------

void Session::begin_seeds(std::string& out) {
  const SymbolId seed = ledger_.symbols.find(kSeedName);
  if (seed != kNil && ledger_.symbols[seed].is_bound()) return;
  const bool is_second = !ledger_.symbols.pieces(kSeedName).empty();
  out += std::string(kSeedName) + " = tensor i64[] " + first_seed(is_second) +
         "\n";
  hold_seed(ledger_.symbols.intern(kSeedName), {});
}

void Session::hold_seed(SymbolId seed, Origin origin) {
  const ValueId v =
      ledger_.tape.add_leaf(ledger_.types.id({Dtype::kI64, {}}), false, origin);
  ledger_.tape.hold(v, seed, true);
  ledger_.tape.add_read(v);  // the register stays
  ledger_.symbols[seed].value = v;
}

// A register that the program bound is held by no read of ours.
void Session::let_go_seed(ValueId seed) {
  if (seed == kNil || !ledger_.tape.is_internal(seed)) return;
  ledger_.tape.make_users(seed);
  ledger_.tape.drop_read(seed);
}

// The next use differs. A gradient may need this one's: as when a user binds a
// name again, an alias keeps it.
void Session::advance_seed(Origin origin, std::string& out) {
  const SymbolId seed = ledger_.symbols.find(kSeedName);
  let_go_seed(ledger_.symbols[seed].value);
  std::string before;
  ledger_.release(seed, origin, before);
  out += before;
  out += std::string(kSeedName) + " = add " + std::string(kSeedName) + " 1" +
         at_note(origin) + "\n";
  hold_seed(seed, origin);
}

// ---- with ranks ------------------------------------------------------------

// The register counts the uses of the whole program, whatever ranks they are
// on: each rank that used one has it, and all count on together.
void Session::begin_placed_seeds(const Ranks& wanted, std::string& out) {
  const auto reads = ledger_.find_pieces(kSeedName, wanted);
  if (reads.missing.empty()) return;
  const std::vector<SymbolId> known = ledger_.symbols.pieces(kSeedName);
  out += with_ranks(kSeedName, to_string(reads.missing));
  if (known.empty()) {
    const SymbolId plain = ledger_.symbols.find(kSeedName);
    const bool is_second = plain != kNil && ledger_.symbols[plain].is_bound();
    out += " = tensor i64[] " + first_seed(is_second) + "\n";
  } else {
    const int64_t from = ledger_.symbols[known[0]].ranks[0];
    out += " = copy " + with_ranks(kSeedName, std::to_string(from)) + "\n";
  }
  Ranks all = reads.missing;
  for (const SymbolId id : known) {
    all = together(all, ledger_.symbols[id].ranks);
  }
  keep_seed(all, out);
}

void Session::keep_seed(const Ranks& ranks, std::string& out) {
  PlacedType type{ranks, {{Dtype::kI64, {}}}, {}, SpmdType{}};
  if (mesh_ != nullptr) {
    for (const MeshAxis* axis : axes_within(*mesh_, ranks)) {
      type.letters.set(*axis, 'R');
      type.global->set(layout(*axis), 'R');
    }
  }
  const ValueId v =
      ledger_.tape.add_leaf(ledger_.types.id(std::move(type)), false, {});
  for (const SymbolId id : ledger_.symbols.pieces(kSeedName)) {
    let_go_seed(ledger_.symbols[id].value);
  }
  ledger_.tape.add_read(v);  // the register stays
  ledger_.bind_piece(kSeedName, ranks, v, true, {}, out);
}

void Session::count_seed(Origin origin, std::string& out) {
  if (completion_.empty() || call_.op->row->statement == Statement::kLoad)
    return;
  Ranks all;
  std::string before;
  for (const SymbolId id : ledger_.symbols.pieces(kSeedName)) {
    all = together(all, ledger_.symbols[id].ranks);
    let_go_seed(ledger_.symbols[id].value);
  }
  // A gradient may need this one.
  ledger_.release_piece(kSeedName, all, origin, before);
  out += before;
  const std::string name = with_ranks(kSeedName, to_string(all));
  out += name + " = add " + name + " 1" + at_note(origin) + "\n";
  keep_seed(all, out);
}

}  // namespace gt
