#include "emit/ledger.h"

#include <algorithm>
#include <unordered_map>

namespace gt {

// Unbinds a name. If a history needs the value's data, an alias keeps it.
void Ledger::release(SymbolId id, Origin origin, std::string& before) {
  Symbol& s = symbols[id];
  const ValueId old = s.value;
  s.value = kNil;
  s.failed = false;
  if (old == kNil) return;
  const bool internal = tape.value(old).internal;
  Lost why;
  why.kind = Lost::Kind::kRebound;
  why.at = origin;
  if (!internal) {
    why.name = id;
    why.generation = static_cast<uint16_t>(s.generation);
    tape.mutable_value(old).gone = why;
  }
  // Letting go may end the very histories that read the value.
  tape.let_go(old, why);
  const Value& v = tape.value(old);
  if (emitted || !v.alive || v.reads + v.pending == 0) return;
  const SymbolId alias = hold_internal(old, origin);
  before += symbols[alias].text + " = copy " + symbols[id].text + "\n";
}

void Ledger::bind(SymbolId id, ValueId value, Origin origin,
                  std::string& before) {
  release(id, origin, before);
  tape.hold(value, id, false);
  symbols[id].value = value;
  symbols[id].bound = origin;
}

std::string Ledger::fresh_name() {
  for (;;) {
    std::string name = "_e" + std::to_string(numbers_.take());
    const SymbolId id = symbols.find(name);
    if (id == kNil || !symbols[id].is_bound()) return name;
  }
}

void Ledger::give_back(std::string_view name) {
  numbers_.give_back(
      static_cast<uint32_t>(std::stoul(std::string(name.substr(2)))));
}

SymbolId Ledger::hold_internal(ValueId value, Origin origin) {
  const SymbolId id = symbols.intern(fresh_name());
  tape.hold(value, id, true);
  symbols[id].value = value;
  symbols[id].bound = origin;
  return id;
}

void Ledger::write_idle_frees(std::string& out) {
  std::string names;
  // Freeing one may leave others unread.
  for (auto idle = tape.take_idle(); !idle.empty(); idle = tape.take_idle()) {
    for (const ValueId v : idle) {
      const Value& value = tape.value(v);
      if (!value.alive || !value.internal || value.reads + value.pending != 0) {
        continue;
      }
      Symbol& s = symbols[value.name];
      names += " " + s.text;
      give_back(s.text);
      s.value = kNil;
      tape.let_go(v, {});
    }
  }
  if (!names.empty()) out += "free" + names + "\n";
}

std::string_view Ledger::lost_name(const Lost& lost) const {
  if (lost.name == kNil) return "a name";
  const Symbol& s = symbols[lost.name];
  const bool same = static_cast<uint16_t>(s.generation) == lost.generation;
  return same ? std::string_view(s.text) : "a name";
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

void Ledger::state(std::string& text, std::vector<Origin*>& lines) {
  // Values and nodes by age, so that equal histories get equal numbers.
  std::vector<ValueId> values;
  for (ValueId v = 0; v < tape.value_limit(); ++v) {
    if (tape.value(v).alive) values.push_back(v);
  }
  std::sort(values.begin(), values.end(), [this](ValueId a, ValueId b) {
    return tape.value(a).serial < tape.value(b).serial;
  });
  std::unordered_map<ValueId, uint64_t> value_number;
  std::unordered_map<NodeId, uint64_t> node_number;
  for (const ValueId v : values) value_number[v] = value_number.size();
  for (NodeId n = tape.oldest(); n != kNil; n = tape.node(n).newer) {
    node_number[n] = node_number.size();
  }
  const auto number_of = [&](ValueId v) {
    return v == kNil ? UINT64_MAX : value_number.at(v);
  };
  for (const ValueId id : values) {
    Value& v = tape.mutable_value(id);
    add(text, v.type);
    add(text, v.name == kNil ? "" : std::string_view(symbols[v.name].text));
    add(text, (v.internal ? 1U : 0U) + (v.differentiable ? 2U : 0U) +
                  4U * static_cast<unsigned>(v.lost.kind) +
                  32U * static_cast<unsigned>(v.gone.kind));
    add(text, lost_name(v.lost));
    add(text, lost_name(v.gone));
    add(text, v.reads);
    add(text, v.pending);
    add(text, v.producer == kNil ? UINT64_MAX : node_number.at(v.producer));
    add(text, v.uses.size());
    lines.push_back(&v.origin);
    lines.push_back(&v.lost.at);
    lines.push_back(&v.gone.at);
  }
  for (NodeId n = tape.oldest(); n != kNil; n = tape.node(n).newer) {
    Node& node = tape.mutable_node(n);
    add(text, node.text->line);
    add(text, node.text->notes);
    for (const ValueId v : node.operands()) add(text, number_of(v));
    for (const ValueId v : node.results()) add(text, number_of(v));
    for (const ValueId v : node.needed()) add(text, number_of(v));
    add(text, node.live_inputs);
    lines.push_back(&node.origin);
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
    lines.push_back(&s.bound);
  }
}

}  // namespace gt
