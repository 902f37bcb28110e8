#include "emit/operands.h"

#include <algorithm>

#include "grad/line_types.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::emit {

Status Operands::resolve(LineState& state, FailureText& failed) const {
  const std::vector<Operand>& operands = state.line.operands;
  state.values.assign(operands.size(), kNil);
  state.types.assign(operands.size(), nullptr);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind != Operand::Kind::kName) continue;
    const SymbolId id = ledger_.symbols.find(operands[i].text);
    if (id == kNoSymbol) {
      return unknown_name(state.line, i, {},
                          ledger_.symbols.names_like(operands[i].text));
    }
    const Symbol& symbol = ledger_.symbols[id];
    if (symbol.failed) {
      failed = ledger_.symbols.failure_of(id);
      continue;
    }
    state.values[i] = symbol.value;
    state.types[i] = &ledger_.types[ledger_.tape.type(symbol.value)];
  }
  return ok_status();
}

// ---- lines with ranks -------------------------------------------------------

Status Operands::resolve_pieces(LineState& state, FailureText& failed,
                                std::string& out) const {
  const Line& line = state.line;
  const bool is_grad = statement_of(line.op) == Statement::kGrad;
  state.reads.assign(line.operands.size(), {});
  for (size_t i = 0; i < line.operands.size(); ++i) {
    const Operand& o = line.operands[i];
    if (o.kind != Operand::Kind::kName) continue;
    const Ranks ranks = ascending(is_grad ? state.where.operands[i]
                                          : ranks_read(line, state.where, i));
    if (o.text == Seeds::kName && !ledger_.emitted) {
      seeds_.begin(ranks, state.mesh, out);
    }
    state.reads[i] = ledger_.find_pieces(o.text, ranks);
    if (!state.reads[i].missing.empty()) {
      return unknown_name(line, i, ranks, ledger_.symbols.names_like(o.text));
    }
    for (const Ledger::PieceRead& read : state.reads[i].pieces) {
      if (ledger_.symbols[read.symbol].failed) {
        failed = ledger_.symbols.failure_of(read.symbol);
      }
    }
  }
  return ok_status();
}

const Type* Operands::piece_type(const LineState& state, size_t operand,
                                 int64_t rank) const {
  for (const Ledger::PieceRead& read : state.reads[operand].pieces) {
    if (!std::binary_search(read.ranks.begin(), read.ranks.end(), rank)) {
      continue;
    }
    const ValueId value = ledger_.symbols[read.symbol].value;
    return &ledger_.types.on(ledger_.tape.type(value), rank);
  }
  return nullptr;
}

// ---- operands that several values hold, each on its own ranks ---------------

Status Operands::check_dtypes(const LineState& state, size_t operand) const {
  const auto& pieces = state.reads[operand].pieces;
  const auto dtype_of = [this](const Ledger::PieceRead& read) {
    const ValueId value = ledger_.symbols[read.symbol].value;
    return ledger_.types[ledger_.tape.type(value)].dtype;
  };
  for (const Ledger::PieceRead& read : pieces) {
    if (dtype_of(read) == dtype_of(pieces[0])) continue;
    const Operand& o = state.line.operands[operand];
    return Error{std::string(state.line.op) + ": the pieces of '" +
                     std::string(o.text) + "' hold " +
                     std::string(to_string(dtype_of(pieces[0]))) + " on rank " +
                     std::to_string(pieces[0].ranks[0]) + " and " +
                     std::string(to_string(dtype_of(read))) + " on rank " +
                     std::to_string(read.ranks[0]),
                 o.column};
  }
  return ok_status();
}

Status Operands::join(LineState& state) const {
  state.values.assign(state.line.operands.size(), kNil);
  for (size_t i = 0; i < state.reads.size(); ++i) {
    if (Status s = check_dtypes(state, i); !s.ok()) return s;
  }
  for (size_t i = 0; i < state.reads.size(); ++i) {
    const auto& pieces = state.reads[i].pieces;
    if (pieces.empty()) continue;
    state.values[i] = pieces.size() > 1
                          ? join(state, i)
                          : ledger_.symbols[pieces[0].symbol].value;
  }
  return ok_status();
}

// Returns the value that an earlier line joined from the same values, if none
// of them was bound again since; or kNil.
ValueId Operands::known_join(const std::vector<ValueId>& values,
                             const std::string& line) const {
  for (const NodeId user : ledger_.tape.users(values[0])) {
    const grad::Form& known = ledger_.tape.form(user);
    if (known.op != &grad::pieces_op() || known.line != line) continue;
    const grad::Node n = ledger_.tape.node(user);
    if (n.results[0] != kNil &&
        std::equal(values.begin(), values.end(), n.operands.begin(),
                   n.operands.end())) {
      return n.results[0];
    }
  }
  return kNil;
}

ValueId Operands::join(LineState& state, size_t operand) const {
  const std::string name(state.line.operands[operand].text);
  grad::PlacedType type;
  std::vector<TypedPart> typed;
  std::vector<grad::ReadPart> read_parts;
  std::vector<ValueId> values;
  grad::Form form;
  form.line = " = pieces";
  for (const Ledger::PieceRead& read : state.reads[operand].pieces) {
    values.push_back(ledger_.symbols[read.symbol].value);
    type.ranks = together(type.ranks, read.ranks);
    const grad::PlacedType& part =
        ledger_.types.placed(ledger_.tape.type(values.back()));
    typed.push_back({&part.letters, &read.ranks});
    read_parts.push_back({&part, &read.ranks});
    const std::string ranks = to_string(read.ranks);
    form.line += " " + full_name("x", ranks);
    if (shows_) form.shown += " " + full_name(name, ranks);
  }
  const std::string ranks = to_string(type.ranks);
  form.line = full_name("r", ranks) + form.line;
  if (shows_) form.shown = full_name(name, ranks) + " = pieces" + form.shown;
  form.mesh = ledger_.mesh_ids.id(state.mesh);
  for (const int64_t rank : type.ranks) {
    type.types.push_back(*piece_type(state, operand, rank));
  }
  type.letters = join_parts(state.mesh, typed);
  type.global = joined_type(read_parts, state.mesh);
  const ValueId known = known_join(values, form.line);
  if (known != kNil) return known;
  const bool floats = is_float(type.types[0].dtype);
  const TypeId id = ledger_.types.id(std::move(type));
  state.joined.push_back(
      floats ? ledger_.tape.join(std::move(form), id, values, state.origin)
             : ledger_.tape.add_leaf(id, false, state.origin));
  return state.joined.back();
}

bool Operands::are_whole(const LineState& state) const {
  for (size_t i = 0; i < state.reads.size(); ++i) {
    if (state.line.operands[i].kind != Operand::Kind::kName) continue;
    const auto& pieces = state.reads[i].pieces;
    if (pieces.size() != 1) return false;
    const Symbol& symbol = ledger_.symbols[pieces[0].symbol];
    const Operand& o = state.line.operands[i];
    if (pieces[0].ranks != *symbol.ranks ||
        *symbol.ranks != ledger_.types.ranks(ledger_.tape.type(symbol.value)) ||
        ledger_.symbols.name_of(pieces[0].symbol) !=
            full_name(o.text, o.ranks)) {
      return false;
    }
  }
  return std::all_of(
      state.line.results.begin(), state.line.results.end(), [](const Name& r) {
        return r.ranks.empty() ||
               to_string(ascending(parse_ranks(r.ranks).value())) == r.ranks;
      });
}

void Operands::settle(LineState& state) const {
  grad::Tape& tape = ledger_.tape;
  for (size_t i = 0; i < state.reads.size() && i < state.values.size(); ++i) {
    const ValueId value = state.values[i];
    if (state.reads[i].pieces.size() < 2 || value == kNil) continue;
    if (!tape.is_alive(value) || tape.reads(value) == 0 ||
        tape.name(value) != kNil || ledger_.emitted) {
      continue;
    }
    const std::string_view name = state.line.operands[i].text;
    const SymbolId id =
        ledger_.hold_internal(value, ledger_.fresh_name(name), state.origin);
    state.before.append(ledger_.symbols.name_of(id)).append(" = copy ");
    state.before +=
        full_name(name, to_string(*ledger_.symbols[id].ranks)) + "\n";
  }
  for (const ValueId v : state.joined) {
    if (tape.is_fresh(v)) tape.end_fresh(v);
  }
  state.joined.clear();
}

}  // namespace gt::emit
