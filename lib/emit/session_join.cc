// Operands that several values hold, each on its own ranks.
#include <algorithm>

#include "emit/session.h"
#include "grad/line_types.h"
#include "stream/ranks.h"

namespace gt {

// -----------------------------------------------------

// What the operands are on the tape. One that several values hold becomes a
// value of its own, whose history is theirs.
Status Session::join_operands(Origin origin) {
  operand_values_.assign(line_.operands.size(), kNil);
  joined_.clear();
  for (size_t i = 0; i < reads_.size(); ++i) {
    const auto& pieces = reads_[i].pieces;
    if (pieces.empty()) continue;
    const auto value_of = [this](const Ledger::PieceRead& read) {
      return ledger_.symbols[read.symbol].value;
    };
    operand_values_[i] = value_of(pieces[0]);
    if (pieces.size() == 1) continue;
    const auto dtype_of = [&](const Ledger::PieceRead& read) {
      return ledger_.types[ledger_.tape.type(value_of(read))].dtype;
    };
    for (const Ledger::PieceRead& read : pieces) {
      if (dtype_of(read) == dtype_of(pieces[0])) continue;
      const Operand& o = line_.operands[i];
      return Error{std::string(line_.op) + ": the pieces of '" +
                       std::string(o.text) + "' hold " +
                       std::string(to_string(dtype_of(pieces[0]))) +
                       " on rank " + std::to_string(pieces[0].ranks[0]) +
                       " and " + std::string(to_string(dtype_of(read))) +
                       " on rank " + std::to_string(read.ranks[0]),
                   o.column};
    }
  }
  for (size_t i = 0; i < reads_.size(); ++i) {
    if (reads_[i].pieces.size() > 1) {
      operand_values_[i] = join_operand(i, origin);
    }
  }
  return ok_status();
}

ValueId Session::join_operand(size_t operand, Origin origin) {
  PlacedType type;
  std::vector<TypedPart> typed;
  std::vector<ReadPart> read_parts;
  std::vector<ValueId> values;
  std::string tail = " = pieces";
  for (const Ledger::PieceRead& read : reads_[operand].pieces) {
    values.push_back(ledger_.symbols[read.symbol].value);
    type.ranks = together(type.ranks, read.ranks);
    const PlacedType& part =
        ledger_.types.placed(ledger_.tape.type(values.back()));
    typed.push_back({&part.letters, &read.ranks});
    read_parts.push_back({&part, &read.ranks});
    tail += " x@" + to_string(read.ranks);
  }
  for (const int64_t rank : type.ranks) {
    type.types.push_back(*piece_type(operand, rank));
  }
  type.letters = join_parts(mesh_, typed);
  type.global = joined_type(read_parts, mesh_);
  const std::string text = "r@" + to_string(type.ranks) + tail;
  // The same was put together before, and nothing of it bound again since.
  for (const NodeId user : ledger_.tape.users(values[0])) {
    const Form& known = ledger_.tape.form(user);
    if (known.op != &pieces_op() || known.line != text) continue;
    const Node n = ledger_.tape.node(user);
    if (n.results[0] != kNil &&
        std::equal(values.begin(), values.end(), n.operands.begin(),
                   n.operands.end())) {
      return n.results[0];
    }
  }
  Form form;
  form.line = text;
  form.mesh = ledger_.mesh_ids.id(mesh_);
  if (options_.tape) {
    const std::string name(line_.operands[operand].text);
    form.shown = with_ranks(name, to_string(type.ranks)) + " = pieces";
    for (const Ledger::PieceRead& read : reads_[operand].pieces) {
      form.shown += " " + with_ranks(name, to_string(read.ranks));
    }
  }
  const bool floats = is_float(type.types[0].dtype);
  const TypeId id = ledger_.types.id(std::move(type));
  const ValueId value =
      floats ? ledger_.tape.join(std::move(form), id, values, origin)
             : ledger_.tape.add_leaf(id, false, origin);
  joined_.push_back(value);
  return value;
}

// A value put together has a name where a history needs its data.
void Session::settle_joined(Origin origin) {
  for (size_t i = 0; i < reads_.size(); ++i) {
    const ValueId id_of = operand_values_[i];
    if (reads_[i].pieces.size() < 2 || id_of == kNil) continue;
    const Tape& tape = ledger_.tape;
    if (!tape.is_alive(id_of) || tape.reads(id_of) == 0 ||
        tape.name(id_of) != kNil || ledger_.emitted) {
      continue;
    }
    const SymbolId id = ledger_.hold_internal(
        operand_values_[i], ledger_.fresh_name(line_.operands[i].text), origin);
    before_ += ledger_.symbols[id].text + " = copy " +
               with_ranks(line_.operands[i].text,
                          to_string(ledger_.symbols[id].ranks)) +
               "\n";
  }
  for (const ValueId v : joined_) {
    if (ledger_.tape.is_fresh(v)) ledger_.tape.let_be(v);
  }
  joined_.clear();
}

}  // namespace gt
