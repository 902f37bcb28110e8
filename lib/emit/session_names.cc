// Lines that bind failures to names and that free names.
#include <algorithm>
#include <unordered_set>

#include "base/message.h"
#include "emit/session.h"
#include "ops/suggest.h"
#include "stream/ranks.h"

namespace gt {

void Session::bind_fail(Origin origin, std::string& out) {
  if (line_.results.empty() || line_.operands.size() != 1 ||
      line_.operands[0].kind != Operand::Kind::kString) {
    return reject({"fail: takes one message in quotes and at least one result; "
                   "usage: y... = fail message",
                   line_.op_column},
                  origin, out);
  }
  if (is_placed(line_)) {
    const auto where = line_ranks(line_);
    if (!where.ok()) return reject(where.error(), origin, out);
  }
  for (const Name& r : line_.results) {
    bind_failed(r, unquote(line_.operands[0].text), origin, out);
  }
  write_line(origin, out);
  ledger_.write_idle_frees(out);
}

Status Session::collect_freed(std::vector<SymbolId>& unplaced,
                              std::vector<Freed>& placed) {
  std::unordered_set<SymbolId> seen;
  const auto add = [&](std::string_view name, const Ranks& ranks,
                       std::string text) {
    Ranks rest = ranks;
    for (const Freed& other : placed) {
      if (other.name == name) rest = without(rest, other.ranks);
    }
    if (rest.empty()) return;
    if (rest.size() < ranks.size()) text = to_string(rest);
    placed.push_back({std::string(name), std::move(rest), std::move(text)});
  };
  for (size_t i = 0; i < line_.operands.size(); ++i) {
    const Operand& o = line_.operands[i];
    if (o.kind == Operand::Kind::kGlob) {
      std::vector<std::string_view> names;
      for (const std::string_view name : ledger_.symbols.bound_names()) {
        if (glob_matches(o.text, without_ranks(name))) names.push_back(name);
      }
      std::sort(names.begin(), names.end());
      for (const std::string_view name : names) {
        const SymbolId id = ledger_.symbols.find(name);
        const Ranks& ranks = ledger_.symbols[id].ranks;
        if (!ranks.empty()) {
          add(without_ranks(name), ranks, to_string(ranks));
        } else if (seen.insert(id).second) {
          unplaced.push_back(id);
        }
      }
      continue;
    }
    if (o.kind == Operand::Kind::kName && !o.ranks.empty()) {
      const Ranks ranks = ascending(parse_ranks(o.ranks).value());
      const auto reads = ledger_.find_pieces(o.text, ranks);
      if (!reads.missing.empty()) return unknown_piece(o, reads.missing);
      add(o.text, ranks, std::string(o.ranks));
      continue;
    }
    const SymbolId id = o.kind == Operand::Kind::kName
                            ? ledger_.symbols.find(o.text)
                            : SymbolId{kNil};
    if (id == kNil || !ledger_.symbols[id].is_bound()) {
      return unknown_name(line_, i, o.text, ledger_.symbols.bound_names());
    }
    if (seen.insert(id).second) unplaced.push_back(id);
  }
  return ok_status();
}

void Session::free_names(Origin origin, std::string& out) {
  if (!line_.results.empty() || line_.operands.empty() || !line_.keys.empty()) {
    return reject({"free: usage: free x...", line_.op_column}, origin, out);
  }
  if (is_placed(line_)) {
    const auto where = line_ranks(line_);
    if (!where.ok()) return reject(where.error(), origin, out);
  }
  std::vector<SymbolId> unplaced;
  std::vector<Freed> placed;
  if (Status s = collect_freed(unplaced, placed); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  before_.clear();
  for (const Operand& o : line_.operands) let_go_seed(o.text, o.ranks);
  // A glob may match both, which no line mixes.
  std::string names, piece_names;
  for (const SymbolId id : unplaced) {
    names += " " + ledger_.symbols[id].text;
    ledger_.release(id, origin, before_);
    ledger_.symbols.note_unbound(ledger_.tape.next_serial());
  }
  for (const Freed& freed : placed) {
    piece_names += " " + with_ranks(freed.name, freed.text);
    ledger_.release_piece(freed.name, freed.ranks, origin, before_);
  }
  out += before_;
  for (const std::string& list : {names, piece_names}) {
    if (list.empty()) continue;
    out += "free" + list;
    append_notes(out, line_);
    out += at_note(origin) + "\n";
  }
  ledger_.write_idle_frees(out);
}

}  // namespace gt
