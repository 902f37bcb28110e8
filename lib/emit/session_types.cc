// Whether a loss may be differentiated: the implicit seed of one on every rank
// is right for a sum over the ranks (P) and for one number that all compute (I)
// alone.
#include <algorithm>

#include "emit/session.h"
#include "stream/ranks.h"

namespace gt {
namespace {

const LocalType& letters_of(const Ledger& ledger, ValueId value) {
  return ledger.types.placed(ledger.tape.type(value)).letters;
}

}  // namespace

// Where a type was lost: the first line behind the loss that broke a rule.
struct Session::Untyped {
  std::string why;
  std::string letters;  // that the line reads
};

Session::Untyped Session::find_untyped(ValueId loss,
                                       const MeshAxis& axis) const {
  std::vector<ValueId> open = {loss};
  std::vector<ValueId> seen;
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
    seen.push_back(id);
    const NodeId producer = ledger_.tape.producer(id);
    if (producer == kNil) {
      return {
          ": nothing says what is made at " + place_of(ledger_.tape.origin(id)),
          ""};
    }
    const Node n = ledger_.tape.node(producer);
    Line line;
    GT_CHECK(parse_line(n.form->line, line).ok());
    std::string found, letters;
    bool known = true;
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId operand = n.operands[i];
      if (operand == kNil) continue;
      const char letter = letters_of(ledger_, operand).on(axis);
      if (letter == kUntyped) {
        known = false;
        open.push_back(operand);
      }
      letters += letter;
      found += (found.empty() ? "" : " and ") + std::string(1, letter);
    }
    if (known) {
      return {
          ": " + n.op->name + " at " + place_of(n.origin) + " reads " + found,
          letters};
    }
  }
  return {};
}

namespace {

// What makes a loss of a line that reads these.
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

}  // namespace

Status Session::check_loss(const Operand& loss, ValueId value) const {
  if (mesh_ == nullptr) return ok_status();
  const auto ranks = parse_ranks(loss.ranks);
  const auto grid = Grid::make(mesh_, ranks.value());
  if (!grid.ok()) {
    return Error{"grad: " + grid.error().message, loss.column};
  }
  const LocalType letters = letters_of(ledger_, value);
  for (const MeshAxis* axis : axes_within(*mesh_, ranks.value())) {
    const char letter = letters.on(*axis);
    if (letter == 'I' || letter == 'P') continue;
    std::string message = "grad: the loss " + std::string(loss.text) + " ";
    if (letter == kUntyped) {
      const Untyped untyped = find_untyped(value, *axis);
      message += "has no known type on axis " + axis->name + untyped.why +
                 "; it must be I or P there" +
                 remedy_of_mix(untyped.letters, *axis);
    } else {
      message += std::string("is ") + letter + " on axis " + axis->name +
                 ", and must be I (one number, computed on each rank) or P (a "
                 "sum over the ranks)" +
                 remedy(loss, value, *axis, letter);
    }
    return Error{message + " [loss]", loss.column};
  }
  return ok_status();
}

std::string Session::remedy(const Operand& loss, ValueId value,
                            const MeshAxis& axis, char letter) const {
  const std::string name = with_ranks(loss.text, loss.ranks);
  const std::string fixed =
      with_ranks(std::string(loss.text) + "1", loss.ranks);
  if (letter == 'V') {
    return "; fix: " + fixed + " = reinterpret " + name + " over=" + axis.name +
           " src=V dst=P #local, and take the gradient of that";
  }
  // R: the line that made it so may make it I as well, or be left out.
  const NodeId producer = ledger_.tape.producer(value);
  if (producer != kNil && ledger_.tape.form(producer).op->row != nullptr &&
      ledger_.tape.form(producer).op->row->needs_ranks()) {
    const Node n = ledger_.tape.node(producer);
    const SymbolId operand = ledger_.tape.name(n.operands[0]);
    const std::string x =
        operand == kNil
            ? std::string("x")
            : std::string(without_ranks(ledger_.symbols[operand].text));
    if (letters_of(ledger_, n.operands[0]).on(axis) == 'R') {
      return "; fix: skip the reduction, since " + x +
             " is the same on all ranks already, and claim #type=" + axis.name +
             ":I where its data are made";
    }
    if (n.op->row->collective == Collective::kAllReduce) {
      return "; fix: " + name + " = all_reduce " + with_ranks(x, loss.ranks) +
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

}  // namespace gt
