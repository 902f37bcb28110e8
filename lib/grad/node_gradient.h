// Writes the gradient lines of one node: the text that the row of its op in the
// op table has as its gradient, made concrete (ops/text.h) on the ranks where
// the node runs. Only those of the row's lines are written that lead to the
// gradient of an operand from which a target can be reached.
//
// If such an operand has no line in the row, the whole grad is refused ("OP has
// no gradient by its operand X; if none is meant, detach what it reads there"),
// since taking zeros for it might be wrong without notice. It is not refused if
// the row says that the gradient is zero (Op::is_non_differentiable), or if the
// row has a line for it through other results, on which the loss does not
// depend.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "grad/contributions.h"
#include "grad/history.h"
#include "ops/text.h"

namespace gt::grad {

// The data that the visits to all nodes of one grad share.
struct Pass {
  const Tape& tape;
  const History& history;
  GradientLines& lines;
  Contributions& gradients;
};

// The node's gradient on ranks whose pieces have the same types: its steps (the
// row's lines made concrete), and the types of the node's own results there.
struct StepGroup {
  std::vector<int64_t> ranks;  // in their order; none: unplaced
  std::vector<Step> steps;
  std::vector<Type> results;
};

class NodeGradient {
 public:
  // `call` is the node's call as any of its ranks makes it; only its op, its
  // keys and which argument is which operand are used.
  NodeGradient(const Pass& pass, const Node& node, const Call& call,
               LinePlace place)
      : pass_(pass), node_(node), call_(call), place_(std::move(place)) {}

  // Appends the lines and passes their results to the Contributions. An
  // unplaced node has one group; a placed node has one for each set of types.
  void write(std::vector<StepGroup> groups);

 private:
  struct Value {
    GradientOperand operand;
    Ranks ranks;
  };
  struct Contribution {
    ValueId value;
    Value part;
  };
  // Groups whose steps are the same except for sizes.
  using Same = std::vector<const StepGroup*>;

  void refuse_unknown();
  void state_wholes();
  void state_whole(size_t s);
  std::optional<PlacedType> sized_as(const Step& step) const;
  void widen(Step& step, const std::vector<SpecEntry>& spec, const Shape& part,
             const Shape& whole);
  bool is_uneven(size_t s) const;
  ValueId value_of(const Ref& ref) const;
  std::optional<StatedCut> cut_of_result(uint32_t result);
  void write_same(const Same& groups);
  bool select(const std::vector<Step>& steps, std::vector<bool>& chosen);
  void write_step(const Same& groups, size_t s);
  void write_step(const Step& step, const LinePlace& place);
  void define(const Ref& ref, Value value);
  GradientOperand read(const Ref& ref, const LinePlace& place);
  Handle result_gradient(uint32_t result);
  Placement claim_of(const Op& constant);
  Placement claim_of(const Step& step);
  LinePlace place_on(const Ranks& ranks) const;

  ValueId operand_value(uint32_t argument) const;
  bool is_wanted(const Ref& ref) const;

  const Pass& pass_;
  const Node& node_;
  const Call& call_;
  const LinePlace place_;
  std::vector<StepGroup> groups_;
  // Temporaries and operands' gradients, by kind and index.
  std::map<std::pair<int, uint32_t>, std::vector<Value>> values_;
  std::map<uint32_t, Handle> result_gradients_;
  std::vector<Contribution> contributions_;
};

}  // namespace gt::grad
