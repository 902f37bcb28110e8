// The gradient lines of one node: its row's text, made concrete on the ranks
// where the node runs.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "grad/contributions.h"
#include "grad/history.h"
#include "ops/text.h"

namespace gt::grad {

// What the visits of one reverse pass share.
struct Pass {
  const Tape& tape;
  const History& history;
  GradientLines& lines;
  Contributions& gradients;
};

// A call's steps, and the ranks that have them; the types of its results there.
struct StepGroup {
  std::vector<int64_t> ranks;  // in their order; none: unplaced
  std::vector<Step> steps;
  std::vector<Type> results;
};

class NodeGradient {
 public:
  // `call`: the node's, or of any of its ranks: which argument is which operand
  // is the same for all.
  NodeGradient(const Pass& pass, const Node& node, const Call& call,
               LinePlace place)
      : pass_(pass), node_(node), call_(call), place_(std::move(place)) {}

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
  using Same = std::vector<const StepGroup*>;  // groups of one structure

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
