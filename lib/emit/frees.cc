#include "emit/frees.h"

#include <algorithm>

#include "emit/operands.h"
#include "ops/call.h"
#include "ops/suggest.h"
#include "spmd/placed.h"
#include "stream/ranks.h"

namespace gt::emit {

// A name that stands twice on the line is freed once.
void Frees::add(SymbolId id, List& list) {
  if (list.seen.insert(id).second) list.unplaced.push_back(id);
}

void Frees::add(std::string_view name, const Ranks& ranks, std::string text,
                List& list) {
  Ranks rest = ranks;
  for (const Freed& other : list.placed) {
    if (other.name == name) rest = without(rest, other.ranks);
  }
  if (rest.empty()) return;
  if (rest.size() < ranks.size()) text = to_string(rest);
  list.placed.push_back({std::string(name), std::move(rest), std::move(text)});
}

void Frees::add_glob(std::string_view glob, List& list) const {
  std::vector<std::string_view> names;
  for (const std::string_view name : ledger_.symbols.names_of_users()) {
    if (glob_matches(glob, without_ranks(name))) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  for (const std::string_view name : names) {
    const SymbolId id = ledger_.symbols.find(name);
    if (const Shared<Ranks>& ranks = ledger_.symbols[id].ranks; ranks) {
      add(without_ranks(name), *ranks, to_string(*ranks), list);
    } else {
      add(id, list);
    }
  }
}

Status Frees::collect(const Line& line, List& list) const {
  for (size_t i = 0; i < line.operands.size(); ++i) {
    const Operand& o = line.operands[i];
    if (o.kind == Operand::Kind::kGlob) {
      add_glob(o.text, list);
      continue;
    }
    if (o.kind == Operand::Kind::kName && !o.ranks.empty()) {
      const Ranks ranks = ascending(parse_ranks(o.ranks).value());
      const auto reads = ledger_.find_pieces(o.text, ranks);
      if (!reads.missing.empty()) {
        return unknown_name(line, i, ranks, ledger_.symbols.names_like(o.text));
      }
      add(o.text, ranks, std::string(o.ranks), list);
      continue;
    }
    const SymbolId id = o.kind == Operand::Kind::kName
                            ? ledger_.symbols.find(o.text)
                            : kNoSymbol;
    if (id == kNoSymbol) {
      return unknown_name(line, i, {}, ledger_.symbols.names_like(o.text));
    }
    add(id, list);
  }
  return ok_status();
}

Status Frees::run(const LineState& state, std::string& out) {
  const Line& line = state.line;
  Call call;
  if (Status s = bind_free(line, call); !s.ok()) return s;
  if (is_placed(line)) {
    if (auto where = line_ranks(line); !where.ok()) return where.error();
  }
  List list;
  if (Status s = collect(line, list); !s.ok()) return s;
  for (const Operand& o : line.operands) seeds_.let_go(o.text, o.ranks);
  // A glob may match names with and without ranks, which no line may mix.
  std::string names, piece_names;
  for (const SymbolId id : list.unplaced) {
    names.append(" ").append(ledger_.symbols.name_of(id));
    ledger_.unbind(id, state.origin, out);
  }
  for (const Freed& freed : list.placed) {
    piece_names += " " + full_name(freed.name, freed.text);
    ledger_.unbind(freed.name, freed.ranks, state.origin, out);
  }
  for (const std::string& freed : {names, piece_names}) {
    if (freed.empty()) continue;
    out += "free" + freed;
    append_notes(out, line);
    out += writer_.at_note(state) + "\n";
  }
  ledger_.write_idle_frees(out);
  return ok_status();
}

bool Frees::run_plain(const Pattern& pattern, Origin origin, std::string& out) {
  constexpr size_t kFew = 8;
  const auto has_ranks = [](const Pattern::Name& name) {
    return name.text.size() > name.base.size();
  };
  if (pattern.names().size() > kFew) return false;
  known_.clear();
  for (const Pattern::Name& name : pattern.names()) {
    const SymbolId id = ledger_.symbols.find(name.text);
    if (id == kNoSymbol) return false;
    if (name.base == Seeds::kName || has_ranks(name) != pattern.is_placed() ||
        std::find(known_.begin(), known_.end(), id) != known_.end()) {
      return false;
    }
    known_.push_back(id);
  }
  for (const SymbolId id : known_) ledger_.unbind(id, origin, out);
  return true;
}

}  // namespace gt::emit
