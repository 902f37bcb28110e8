#include "emit/loss.h"

#include <unordered_set>

#include "stream/ranks.h"

namespace gt::emit {
namespace {

const Placement& letters_of(const Ledger& ledger, ValueId value) {
  return ledger.types.placed(ledger.tape.type(value)).letters;
}

// Explains why a loss has no type on an axis: by the first line behind it that
// has none although all that it reads has one.
struct Untyped {
  std::string why;
  std::string letters;  // the letters that the line reads
};

Untyped find_untyped(const Ledger& ledger, const Messages& messages,
                     ValueId loss, const MeshAxis& axis) {
  std::vector<ValueId> open = {loss};
  std::unordered_set<ValueId> seen;
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const NodeId producer = ledger.tape.producer(id);
    if (producer == kNil) {
      return {": nothing says what is made at " +
                  messages.place_of(ledger.tape.origin(id)),
              ""};
    }
    const grad::Node n = ledger.tape.node(producer);
    std::string found, letters;
    bool known = true;
    for (const ValueId operand : n.operands) {
      if (operand == kNil) continue;
      const char letter = letters_of(ledger, operand).on(axis);
      if (letter == kUntyped) {
        known = false;
        open.push_back(operand);
      }
      letters += letter;
      found += (found.empty() ? "" : " and ") + std::string(1, letter);
    }
    if (known) {
      return {": " + n.op->name + " at " + messages.place_of(n.origin) +
                  " reads " + found,
              letters};
    }
  }
  return {};
}

// Says how to change a line that reads these letters together, so that its
// result can be a loss.
std::string remedy_of_mix(const std::string& letters, const MeshAxis& axis) {
  const auto reads = [&](char c) { return letters.find(c) != letters.npos; };
  if (reads('I') && reads('R') && !reads('P') && !reads('V')) {
    return ": where all ranks compute the same from the same, claim #type=" +
           axis.name +
           ":I where the R is made; else convert the I (src=I dst=R) and "
           "reduce what comes of it (all_reduce dst=I)";
  }
  if (reads('I') && reads('P') && !reads('V')) {
    return ": convert the I (src=I dst=P expert=1), or all_reduce the P "
           "(dst=I)";
  }
  return ": claim it with #type=" + axis.name + ":P (or I) where it is made";
}

// Says how to change a loss that is R. If a collective made it R, the
// collective can make it I instead, or be left out; otherwise a convert is
// offered.
std::string remedy_of_copies(const Ledger& ledger, const Operand& loss,
                             ValueId value, const MeshAxis& axis) {
  const std::string name = full_name(loss.text, loss.ranks);
  const std::string fixed = full_name(std::string(loss.text) + "1", loss.ranks);
  const NodeId producer = ledger.tape.producer(value);
  if (producer != kNil && ledger.tape.form(producer).op->row != nullptr &&
      ledger.tape.form(producer).op->row->needs_ranks()) {
    const grad::Node n = ledger.tape.node(producer);
    const SymbolId operand = ledger.tape.name(n.operands[0]);
    const std::string x =
        operand == kNil
            ? std::string("x")
            : std::string(without_ranks(ledger.symbols.name_of(operand)));
    if (letters_of(ledger, n.operands[0]).on(axis) == 'R') {
      return "; fix: skip the reduction, since " + x +
             " is the same on all ranks already, and claim #type=" + axis.name +
             ":I where its data are made";
    }
    if (n.op->row->collective == Collective::kAllReduce) {
      return "; fix: " + name + " = all_reduce " + full_name(x, loss.ranks) +
             " over=" + axis.name +
             " src=P dst=I, or skip the reduction and take the gradient of " +
             x;
    }
  }
  return "; fix: " + fixed + " = convert " + name + " over=" + axis.name +
         " src=R dst=P, and take the gradient of that; or, where all ranks "
         "compute the same from the same, claim #type=" +
         axis.name + ":I where its data are made";
}

std::string explain(const Ledger& ledger, const Messages& messages,
                    const Operand& loss, ValueId value, const MeshAxis& axis,
                    char letter) {
  if (letter == kUntyped) {
    const Untyped untyped = find_untyped(ledger, messages, value, axis);
    return "has no known type on axis " + axis.name + untyped.why +
           "; it must be I or P there" + remedy_of_mix(untyped.letters, axis);
  }
  const std::string what =
      std::string("is ") + letter + " on axis " + axis.name +
      ", and must be I (one number, computed on each rank) or P (a sum over "
      "the ranks)";
  if (letter != 'V') return what + remedy_of_copies(ledger, loss, value, axis);
  return what +
         "; fix: " + full_name(std::string(loss.text) + "1", loss.ranks) +
         " = reinterpret " + full_name(loss.text, loss.ranks) +
         " over=" + axis.name +
         " src=V dst=P #local, and take the gradient of that";
}

}  // namespace

Status check_loss(const Ledger& ledger, const Messages& messages,
                  const LineState& state, ValueId value) {
  const Operand& loss = state.line.operands[0];
  if (state.mesh == nullptr) return ok_status();
  const auto ranks = parse_ranks(loss.ranks);
  const auto grid = Grid::make(state.mesh, ranks.value());
  if (!grid.ok()) {
    return Error{"grad: " + grid.error().message, loss.column};
  }
  for (const MeshAxis* axis : axes_within(*state.mesh, ranks.value())) {
    const char letter = letters_of(ledger, value).on(*axis);
    if (letter == 'I' || letter == 'P') continue;
    return Error{"grad: the loss " + std::string(loss.text) + " " +
                     explain(ledger, messages, loss, value, *axis, letter) +
                     " [loss]",
                 loss.column};
  }
  return ok_status();
}

}  // namespace gt::emit
