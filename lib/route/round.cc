#include "route/round.h"

namespace gt {

void Round::begin(const RoundStart& start, const Loads& loads) {
  is_on_ = true;
  start_ = start;
  text_.clear();
  lines_ = 0;
  routes_.clear();
  owed_.clear();
  owed_bytes_ = 0;
  costs_.clear();
  for (uint32_t w = 0; w < loads.size(); ++w) {
    costs_.push_back(loads.issued(w));
  }
}

bool Round::end(const RoundStart& next, const Loads& loads,
                const Homes& homes) {
  if (!is_on_ || next.changes != start_.changes) return false;
  seqs_ = next.seq - start_.seq;
  for (uint32_t w = 0; w < loads.size(); ++w) {
    costs_[w] = loads.issued(w) - costs_[w];
  }
  types_.clear();
  for (const Route* route : routes_) {
    for (const RouteOperand& operand : route->operands) {
      types_.push_back(homes[operand.id].stamp.type);
    }
    for (const RouteResult& result : route->results) {
      types_.push_back(homes[result.id].stamp.type);
    }
  }
  return true;
}

}  // namespace gt
