#include "emit/ledger.h"

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <utility>

#include "base/message.h"
#include "ops/call.h"
#include "program/costs.h"

namespace gt::emit {

// ---- names ------------------------------------------------------------------

SymbolId Ledger::named(SymbolId id) {
  Symbol& s = symbols[id];
  if (s.since == Symbol::kJustNow) s.since = tape.next_serial();
  return id;
}

void Ledger::set(SymbolId id, ValueId value, Origin origin) {
  Symbol& s = symbols[id];
  if (s.ranks && !s.is_live()) symbols.add_part(id);
  s.value = value;
  s.bound = origin;
  if (usage.counts) count(id);
}

// Counts a name that was just bound; clear() subtracts it again.
void Ledger::count(SymbolId id) {
  const ValueId value = symbols[id].value;
  if (value != kNil && !recipes.is_dropped(value)) count_bytes(id);
  ++usage.names;
}

void Ledger::count_bytes(SymbolId id) {
  Symbol& s = symbols[id];
  const TypeId type = tape.type(s.value);
  s.bytes = s.ranks ? bytes_of(type, *s.ranks) : bytes_of(type);
  usage.bytes += s.bytes;
}

uint64_t Ledger::bytes_of(TypeId type) const {
  return grad::ValueTypes::is_placed(type) ? bytes_of(type, types.ranks(type))
                                           : types[type].bytes();
}

uint64_t Ledger::bytes_of(TypeId type, const Ranks& ranks) const {
  uint64_t bytes = 0;
  for (const int64_t rank : ranks) bytes += types.on(type, rank).bytes();
  return bytes;
}

void Ledger::clear(SymbolId id) {
  Symbol& s = symbols[id];
  if (s.ranks) symbols.drop_part(id);
  if (s.failed) symbols.forget_failure(id);
  if (usage.counts && s.is_live()) {
    usage.bytes -= s.bytes;
    --usage.names;
    s.bytes = 0;
  }
  s.value = kNil;
  s.failed = false;
}

void Ledger::fail(SymbolId id, FailureText why, Origin origin) {
  set(id, kNil, origin);
  symbols[id].failed = true;
  symbols.note_failure(id, std::move(why));
}

// Unbinds a name. If a history needs the value's data, an alias keeps it.
void Ledger::release(SymbolId id, Origin origin, std::string& before) {
  const ValueId old = symbols[id].value;
  clear(id);
  if (old == kNil) return;
  grad::Lost why = rebound(id, origin, old);
  if (tape.is_internal(old)) {
    why.name = kNil;
  } else {
    tape.note_gone(old, why);
  }
  // Letting go of the value may end the very histories that read it.
  tape.let_go(old, why);
  if (emitted || !tape.is_alive(old) || tape.name(old) != kNil ||
      !tape.is_needed(old)) {
    return recipes.remove(old);
  }
  if (recipes.may_drop(old)) return drop_data(id, old, origin);
  recipes.remove(old);
  const SymbolId alias = keep_alias(id, old, origin, before);
  tape.hold(old, alias, true);
}

// Lets an internal name stand for what the name has just held, although no
// register has it.
void Ledger::drop_data(SymbolId id, ValueId value, Origin origin) {
  const SymbolId name = obtain_internal(symbols[id].ranks, symbols.name_of(id));
  recipes.note_dropped(value);
  set(name, value, origin);
  tape.hold(value, name, true);
}

// Writes a copy of what the name holds, or has just held, under an internal
// name.
SymbolId Ledger::keep_alias(SymbolId id, ValueId value, Origin origin,
                            std::string& before) {
  const SymbolId alias =
      obtain_internal(symbols[id].ranks, symbols.name_of(id));
  set(alias, value, origin);
  before.append(symbols.name_of(alias)).append(" = copy ");
  before.append(symbols.name_of(id)).append("\n");
  return alias;
}

// Describes how the name that holds `value` was bound again.
grad::Lost Ledger::rebound(SymbolId id, Origin origin, ValueId value) const {
  grad::Lost why;
  why.kind = grad::Lost::Kind::kRebound;
  why.at = origin;
  why.name = id;
  // For a value that is older than the name, the newest serial number says when
  // the name was bound again.
  const bool is_older = tape.serial(value) < symbols[id].since;
  why.serial = is_older ? tape.next_serial() - 1 : tape.serial(value);
  return why;
}

void Ledger::bind(SymbolId id, ValueId value, Origin origin,
                  std::string& before) {
  release(id, origin, before);
  tape.hold(value, id, false);
  set(id, value, origin);
}

void Ledger::unbind(SymbolId id, Origin origin, std::string& before) {
  release(id, origin, before);
  symbols.retire(id);
}

// ---- names with ranks -------------------------------------------------------

void Ledger::unbind(std::string_view name, const Ranks& ranks, Origin origin,
                    std::string& before) {
  symbols.carve(name, ranks, [&](SymbolId id, const Ranks& rest) {
    if (rest.empty()) {
      unbind(id, origin, before);
    } else {
      narrow(id, rest, origin, before);
    }
  });
}

// The value stays what it was, a target included, but its name holds it only on
// the ranks `rest`.
void Ledger::narrow(SymbolId id, const Ranks& rest, Origin origin,
                    std::string& before) {
  const Symbol whole = symbols[id];
  const FailureText failure = symbols.failure_of(id);
  if (whole.value != kNil) {
    if (!emitted && tape.alias(whole.value) == kNil &&
        !tape.is_internal(whole.value) && tape.is_needed(whole.value)) {
      tape.hold_alias(whole.value, keep_alias(id, whole.value, origin, before));
    }
    tape.note_gone(whole.value, rebound(id, origin, whole.value));
  }
  clear(id);
  symbols.retire(id);
  const SymbolId part = obtain(without_ranks(symbols.name_of(id)), rest);
  if (whole.failed) return fail(part, failure, whole.bound);
  set(part, whole.value, whole.bound);
  tape.rename(whole.value, part);
}

SymbolId Ledger::vacate(std::string_view name, const Ranks& ranks,
                        Origin origin, std::string& before) {
  if (!ranks.empty()) unbind(name, ranks, origin, before);
  const SymbolId id = obtain(name, ranks);
  if (ranks.empty()) release(id, origin, before);
  return id;
}

SymbolId Ledger::bind(std::string_view name, const Ranks& ranks, ValueId value,
                      bool internal, Origin origin, std::string& before) {
  const SymbolId id = vacate(name, ranks, origin, before);
  tape.hold(value, id, internal);
  set(id, value, origin);
  return id;
}

Ledger::PieceReads Ledger::find_pieces(std::string_view name,
                                       const Ranks& ranks) const {
  PieceReads reads;
  reads.missing = ranks;
  for (const SymbolId id : symbols.parts(name)) {
    Ranks both = common(*symbols[id].ranks, ranks);
    if (both.empty()) continue;
    reads.missing = without(reads.missing, both);
    reads.pieces.push_back({id, std::move(both)});
  }
  std::sort(reads.pieces.begin(), reads.pieces.end(),
            [](const PieceRead& a, const PieceRead& b) {
              return a.ranks[0] < b.ranks[0];
            });
  return reads;
}

std::string Ledger::name_of(ValueId value, std::string_view ranks) const {
  const std::string_view name = symbols.name_of(reading_name(value));
  return full_name(ranks.empty() ? name : without_ranks(name), ranks);
}

// ---- our own names ----------------------------------------------------------

std::string Ledger::fresh_name(std::string_view like) {
  std::string space(meshes.space_of(like));
  if (!space.empty()) space += "/";
  for (;;) {
    std::string name = space + "_e" + std::to_string(numbers_.take());
    if (symbols.find(name) != kNoSymbol) continue;
    if (symbols.parts(name).empty()) return name;
  }
}

void Ledger::give_back(std::string_view name) {
  const std::string_view text = without_ranks(name);
  numbers_.give(std::stoul(std::string(text.substr(text.rfind('_') + 2))));
}

SymbolId Ledger::obtain_internal(const Shared<Ranks>& ranks,
                                 std::string_view like) {
  const std::string name = fresh_name(like);
  return ranks ? obtain(name, *ranks) : obtain(name);
}

SymbolId Ledger::hold_internal(ValueId value, std::string_view name,
                               Origin origin) {
  const SymbolId id = obtain(name, types.ranks(tape.type(value)));
  tape.hold(value, id, true);
  set(id, value, origin);
  return id;
}

void Ledger::free_internal(SymbolId id, Frees& frees) {
  const std::string_view name = symbols.name_of(id);
  if (recipes.is_dropped(symbols[id].value)) {
    // There is no register to be freed.
  } else if (!symbols[id].ranks) {
    frees.unplaced.append(" ").append(name);
  } else {
    const std::string_view space = meshes.space_of(name);
    auto& placed = frees.placed;
    auto at = std::find_if(placed.begin(), placed.end(), [space](auto& names) {
      return names.first == space;
    });
    if (at == placed.end()) {
      placed.emplace_back(space, "");
      at = placed.end() - 1;
    }
    at->second.append(" ").append(name);
  }
  give_back(name);
  clear(id);
  symbols.retire(id);
}

void Ledger::drop_types() {
  if (!types.is_crowded()) return;
  std::unordered_set<TypeId> uses;
  for (ValueId v = 0; v < tape.value_limit(); ++v) {
    if (tape.is_alive(v)) uses.insert(tape.type(v));
  }
  for (grad::FormId f = 0; f < tape.forms().limit(); ++f) {
    const auto& of_results = tape.forms()[f].types;
    uses.insert(of_results.begin(), of_results.end());
  }
  types.keep_only(uses);
}

void Ledger::write_idle_frees(std::string& out) {
  auto idle = tape.take_idle();
  if (idle.empty()) return;
  Frees frees;
  // Freeing a name may leave other data unread.
  for (; !idle.empty(); idle = tape.take_idle()) {
    for (const ValueId v : idle) {
      if (!tape.is_alive(v) || tape.is_needed(v)) continue;
      if (const SymbolId alias = tape.alias(v); alias != kNil) {
        free_internal(alias, frees);
        tape.drop_alias(v);
      } else if (tape.is_internal(v)) {
        free_internal(tape.name(v), frees);
        tape.let_go(v, {});
        recipes.remove(v);
      }
    }
  }
  if (!frees.unplaced.empty()) out += "free" + frees.unplaced + "\n";
  for (const auto& [space, names] : frees.placed) out += "free" + names + "\n";
}

// ---- what is computed again -------------------------------------------------

void Ledger::recompute(ValueId value, const EndLine& end_line,
                       std::string& out) {
  std::vector<ValueId> open = {value};
  while (!open.empty()) {
    const ValueId v = open.back();
    if (!recipes.is_dropped(v)) {
      open.pop_back();
      continue;
    }
    const size_t before = open.size();
    for (const ValueId operand : recipes.find(v)->operands) {
      if (operand != kNil && recipes.is_dropped(operand))
        open.push_back(operand);
    }
    if (open.size() == before) compute_again(v, end_line, out);
  }
}

// Writes the line of the value's recipe; all that it reads has registers. Other
// results of the line that were dropped get their registers again, and the rest
// gets names that are freed at once.
void Ledger::compute_again(ValueId value, const EndLine& end_line,
                           std::string& out) {
  const Recipe& recipe = *recipes.find(value);
  Line line = tape.forms().parsed(recipe.form.id());
  std::deque<std::string> texts;  // the line has views into them
  std::vector<ValueId> made;
  std::vector<std::string_view> unwanted;
  for (size_t r = 0; r < line.results.size(); ++r) {
    const ValueId v = recipe.results[r];
    if (v != kNil && recipes.is_dropped(v)) {
      made.push_back(v);
      line.results[r].text = symbols.name_of(tape.name(v));
      continue;
    }
    texts.push_back(fresh_name(symbols.name_of(tape.name(value))));
    line.results[r].text = texts.back();
    unwanted.push_back(texts.back());
  }
  std::vector<const Type*> operands;
  for (size_t o = 0; o < line.operands.size(); ++o) {
    const ValueId v = recipe.operands[o];
    operands.push_back(v == kNil ? nullptr : &types[tape.type(v)]);
    if (v == kNil) continue;
    texts.push_back(name_of(v, ""));
    line.operands[o].text = texts.back();
  }
  append_instruction(out, line);
  end_line(tape.forms()[recipe.form.id()].notes + " #bwd #recompute", out);
  if (usage.counts) {
    Call call;
    GT_CHECK(gt::bind(line, operands, call).ok());
    usage.cost += line_cost(call);
  }
  for (const std::string_view name : unwanted) {
    out.append("free ").append(name).append("\n");
    give_back(name);
  }
  for (const ValueId v : made) {
    recipes.remove(v);
    if (usage.counts) count_bytes(tape.name(v));
  }
  write_idle_frees(out);
}

std::string_view Ledger::lost_name(const grad::Lost& lost) const {
  const bool stands_for_it = lost.name != kNil && stands(lost);
  return stands_for_it ? symbols.name_of(lost.name) : "a name";
}

}  // namespace gt::emit
