#include "emit/ledger.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace gt {

// Unbinds a name. If a history needs the value's data, an alias keeps it.
void Ledger::release(SymbolId id, Origin origin, std::string& before) {
  Symbol& s = symbols[id];
  const ValueId old = s.value;
  s.value = kNil;
  s.failed = false;
  if (!s.ranks.empty()) symbols.drop_piece(id);
  const Ranks ranks = std::move(s.ranks);
  s.ranks.clear();
  if (old == kNil) return;
  Lost why = rebound(id, origin, old);
  if (tape.is_internal(old)) {
    why.name = kNil;
  } else {
    tape.note_gone(old, why);
  }
  // Letting go may end the very histories that read the value.
  tape.let_go(old, why);
  if (emitted || !tape.is_alive(old) || tape.name(old) != kNil ||
      !tape.is_needed(old)) {
    return;
  }
  const SymbolId alias = intern_internal(ranks, symbols[id].text);
  tape.hold(old, alias, true);
  symbols[alias].value = old;
  symbols[alias].bound = origin;
  before += symbols[alias].text + " = copy " + symbols[id].text + "\n";
}

// How the name was bound again that holds `value`.
Lost Ledger::rebound(SymbolId id, Origin origin, ValueId value) const {
  Lost why;
  why.kind = Lost::Kind::kRebound;
  why.at = origin;
  why.name = id;
  // Of a value that is older than the name, the newest one says when it was.
  const bool is_older = tape.serial(value) < symbols[id].since;
  why.serial = is_older ? tape.next_serial() - 1 : tape.serial(value);
  return why;
}

void Ledger::bind(SymbolId id, ValueId value, Origin origin,
                  std::string& before) {
  release(id, origin, before);
  tape.hold(value, id, false);
  symbols[id].value = value;
  symbols[id].bound = origin;
}

// ---- names with ranks
// --------------------------------------------------------

void Ledger::release_piece(std::string_view name, const Ranks& ranks,
                           Origin origin, std::string& before) {
  const std::vector<SymbolId> pieces = symbols.pieces(name);
  for (const SymbolId id : pieces) {
    const Ranks rest = without(symbols[id].ranks, ranks);
    if (rest.empty()) {
      release(id, origin, before);
      symbols.note_unbound(tape.next_serial());
    } else if (rest.size() < symbols[id].ranks.size()) {
      shrink(id, rest, origin, before);
    }
  }
}

// The value stays what it was, a target included, but its name means it on the
// rest alone.
void Ledger::shrink(SymbolId id, const Ranks& rest, Origin origin,
                    std::string& before) {
  const ValueId value = symbols[id].value;
  const bool failed = symbols[id].failed;
  if (value != kNil) {
    if (!emitted && tape.alias(value) == kNil && !tape.is_internal(value) &&
        tape.is_needed(value)) {
      const SymbolId alias =
          intern_internal(symbols[id].ranks, symbols[id].text);
      symbols[alias].value = value;
      symbols[alias].bound = origin;
      tape.hold_alias(value, alias);
      before += symbols[alias].text + " = copy " + symbols[id].text + "\n";
    }
    tape.note_gone(value, rebound(id, origin, value));
  }
  const std::string name(without_ranks(symbols[id].text));
  symbols.drop_piece(id);
  symbols[id].value = kNil;
  symbols[id].failed = false;
  symbols[id].ranks.clear();
  const SymbolId narrow = symbols.intern_piece(name, rest);
  symbols[narrow].value = value;
  symbols[narrow].failed = failed;
  symbols[narrow].message = symbols[id].message;
  symbols[narrow].bound = symbols[id].bound;
  if (value != kNil) tape.rename(value, narrow);
}

SymbolId Ledger::bind_piece(std::string_view name, const Ranks& ranks,
                            ValueId value, bool internal, Origin origin,
                            std::string& before) {
  release_piece(name, ranks, origin, before);
  const SymbolId id = symbols.intern_piece(name, ranks);
  tape.hold(value, id, internal);
  symbols[id].value = value;
  symbols[id].bound = origin;
  return id;
}

Ledger::PieceReads Ledger::find_pieces(std::string_view name,
                                       const Ranks& ranks) const {
  PieceReads reads;
  reads.missing = ranks;
  for (const SymbolId id : symbols.pieces(name)) {
    Ranks both = common(symbols[id].ranks, ranks);
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
  const std::string& text = symbols[reading_name(value)].text;
  return ranks.empty() ? text : with_ranks(without_ranks(text), ranks);
}

// ---- our own names
// -----------------------------------------------------------

std::string Ledger::fresh_name(std::string_view like) {
  std::string space(meshes.space_of(like));
  if (!space.empty()) space += "/";
  for (;;) {
    std::string name = space + "_e" + std::to_string(numbers_.take());
    const SymbolId id = symbols.find(name);
    if (id != kNil && symbols[id].is_bound()) continue;
    if (symbols.pieces(name).empty()) return name;
  }
}

void Ledger::give_back(std::string_view name) {
  const std::string_view text = without_ranks(name);
  numbers_.give_back(static_cast<uint32_t>(
      std::stoul(std::string(text.substr(text.rfind('_') + 2)))));
}

SymbolId Ledger::intern_internal(const Ranks& ranks, std::string_view like) {
  const std::string name = fresh_name(like);
  return ranks.empty() ? symbols.intern(name)
                       : symbols.intern_piece(name, ranks);
}

SymbolId Ledger::hold_internal(ValueId value, std::string_view name,
                               Origin origin) {
  const Ranks& ranks = types.ranks(tape.type(value));
  const SymbolId id =
      ranks.empty() ? symbols.intern(name) : symbols.intern_piece(name, ranks);
  tape.hold(value, id, true);
  symbols[id].value = value;
  symbols[id].bound = origin;
  return id;
}

void Ledger::free_internal(SymbolId id, Frees& frees) {
  Symbol& s = symbols[id];
  if (s.ranks.empty()) {
    frees.unplaced += " " + s.text;
  } else {
    const std::string_view space = meshes.space_of(s.text);
    auto& placed = frees.placed;
    auto at = std::find_if(placed.begin(), placed.end(), [space](auto& names) {
      return names.first == space;
    });
    if (at == placed.end()) {
      placed.emplace_back(space, "");
      at = placed.end() - 1;
    }
    at->second += " " + s.text;
  }
  give_back(s.text);
  s.value = kNil;
  if (s.ranks.empty()) return;
  symbols.drop_piece(id);
  s.ranks.clear();
}

void Ledger::drop_types() {
  if (!types.is_crowded()) return;
  std::unordered_set<TypeId> uses;
  for (ValueId v = 0; v < tape.value_limit(); ++v) {
    if (tape.is_alive(v)) uses.insert(tape.type(v));
  }
  for (FormId f = 0; f < tape.forms().limit(); ++f) {
    const auto& of_results = tape.forms()[f].types;
    uses.insert(of_results.begin(), of_results.end());
  }
  types.keep_only(uses);
}

void Ledger::write_idle_frees(std::string& out) {
  auto idle = tape.take_idle();
  if (idle.empty()) return;
  Frees frees;
  // Freeing one may leave others unread.
  for (; !idle.empty(); idle = tape.take_idle()) {
    for (const ValueId v : idle) {
      if (!tape.is_alive(v) || tape.is_needed(v)) continue;
      if (const SymbolId alias = tape.alias(v); alias != kNil) {
        free_internal(alias, frees);
        tape.drop_alias(v);
      } else if (tape.is_internal(v)) {
        free_internal(tape.name(v), frees);
        tape.let_go(v, {});
      }
    }
  }
  if (!frees.unplaced.empty()) out += "free" + frees.unplaced + "\n";
  for (const auto& [space, names] : frees.placed) out += "free" + names + "\n";
}

std::string_view Ledger::lost_name(const Lost& lost) const {
  if (lost.name == kNil) return "a name";
  const Symbol& s = symbols[lost.name];
  return s.since <= lost.serial ? std::string_view(s.text) : "a name";
}

// ---- what a later line can depend on ---------------------------------------

namespace {

void add(std::string& text, uint64_t n) {
  text.append(reinterpret_cast<const char*>(&n), sizeof n);
}
void add(std::string& text, std::string_view s) {
  add(text, s.size());
  text += s;
}

}  // namespace

void Ledger::state(std::string& text, const PlaceVisitor& visit) {
  // Values by age, so that equal histories get equal numbers.
  std::vector<ValueId> values;
  for (ValueId v = 0; v < tape.value_limit(); ++v) {
    if (tape.is_alive(v)) values.push_back(v);
  }
  std::sort(values.begin(), values.end(), [this](ValueId a, ValueId b) {
    return tape.serial(a) < tape.serial(b);
  });
  const std::vector<NodeId> nodes = tape.nodes_by_age();
  std::unordered_map<ValueId, uint64_t> value_number;
  std::unordered_map<NodeId, uint64_t> node_number;
  for (const ValueId v : values) value_number[v] = value_number.size();
  for (const NodeId n : nodes) node_number[n] = node_number.size();
  const auto number_of = [&](ValueId v) {
    return v == kNil ? UINT64_MAX : value_number.at(v);
  };
  // Of the targets behind a lost history those that are still there count.
  const auto add_hidden = [&](const Hidden& hidden) {
    if (!hidden.table) return;
    add(text, hidden.table->at(hidden.row, 0) ? "unknown" : "known");
    for (const uint64_t serial : hidden.table->serials) {
      if (!hidden.may_be(serial)) continue;
      const auto at = std::lower_bound(
          values.begin(), values.end(), serial,
          [this](ValueId v, uint64_t s) { return tape.serial(v) < s; });
      if (at != values.end() && tape.serial(*at) == serial) {
        add(text, number_of(*at));
      }
    }
  };
  const auto text_of = [this](SymbolId name) {
    return name == kNil ? std::string_view() : symbols[name].text;
  };
  for (const ValueId v : values) {
    Lost lost = tape.lost(v);
    Lost gone = tape.gone(v);
    add_hidden(tape.hidden(v));
    add(text, tape.type(v));
    add(text, text_of(tape.name(v)));
    add(text, text_of(tape.alias(v)));
    add(text, (tape.is_internal(v) ? 1U : 0U) +
                  (tape.is_differentiable(v) ? 2U : 0U) +
                  4U * static_cast<unsigned>(lost.kind) +
                  32U * static_cast<unsigned>(gone.kind));
    add(text, lost_name(lost));
    add(text, lost_name(gone));
    add(text, tape.reads(v));
    add(text, tape.pending(v));
    const NodeId producer = tape.producer(v);
    add(text, producer == kNil ? UINT64_MAX : node_number.at(producer));
    add(text, tape.users(v).size());
    Origin origin = tape.origin(v);
    visit(origin);
    visit(lost.at);
    visit(gone.at);
    tape.move_places(v, origin, lost.at, gone.at);
  }
  for (const NodeId n : nodes) {
    const Node node = tape.node(n);
    add(text, node.form->line);
    add(text, node.form->notes);
    add(text, node.form->mesh);
    for (const ValueId v : node.operands) add(text, number_of(v));
    for (const ValueId v : node.results) add(text, number_of(v));
    for (const ValueId v : node.needed) add(text, number_of(v));
    add(text, node.live_inputs);
    // Of a node whose first result is gone, too.
    if (tape.is_alive(n)) continue;
    Origin origin = node.origin;
    visit(origin);
    tape.move_places(n, origin, {}, {});
  }
  std::vector<SymbolId> names;
  for (SymbolId id = 0; id < symbols.all().size(); ++id) {
    if (symbols[id].is_bound()) names.push_back(id);
  }
  std::sort(names.begin(), names.end(), [this](SymbolId a, SymbolId b) {
    return symbols[a].text < symbols[b].text;
  });
  for (const SymbolId id : names) {
    Symbol& s = symbols[id];
    add(text, s.text);
    add(text, number_of(s.value));
    add(text, s.message);
    visit(s.bound);
  }
  add(text, meshes.describe());
  add(text, types.rounds());
}

}  // namespace gt
