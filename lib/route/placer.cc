#include "route/placer.h"

#include <algorithm>

#include "program/costs.h"

namespace gt::route {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;

// Nanoseconds that lines must lose by staying, in addition to the cost of the
// copies, before one moves.
constexpr uint64_t kPatience = 4 * kCopyCost;

}  // namespace

Placer::Choice Placer::place(const Route& route) const {
  if (loads_.size() == 1) return {};
  uint32_t worker = kNobody;
  uint64_t start = 0;
  for (const RouteOperand& operand : route.operands) {
    const ValueLocation& location = locations_[operand.id];
    if (location.held != 0) continue;
    const uint32_t first = location.holders[0];
    if (location.holders.size() > 1 || loads_.is_lost(first) ||
        (worker != kNobody && worker != first)) {
      return choose(route);
    }
    worker = first;
    start = std::max(start, loads_.remaining(worker, location.ready));
  }
  if (worker == kNobody) return {place_new(route), false, 0};
  // The line continues a chain: its operands are about the last values that the
  // worker was given to make, so no other worker could begin sooner.
  if (loads_.outstanding(worker) <= start + kCopyCost)
    return {worker, false, 0};
  return choose(route);
}

// Places a line that reads nothing, or only values that are not made yet. If it
// costs less than a copy, it runs where its result was wanted before.
uint32_t Placer::place_new(const Route& route) const {
  if (route.cost >= kCopyCost || route.results.empty()) return loads_.least();
  return place_alone(route.results[0].id);
}

uint32_t Placer::place_alone(SymbolId id) const {
  const uint32_t wanted_by = locations_[id].wanted_by;
  const bool is_there = wanted_by != 0 && !loads_.is_lost(wanted_by - 1);
  return is_there ? wanted_by - 1 : loads_.least();
}

Placer::Choice Placer::choose(const Route& route) const {
  Workers near;
  uint64_t waited = 0;
  for (const RouteOperand& operand : route.operands) {
    const ValueLocation& location = locations_[operand.id];
    if (location.held != 0) continue;
    waited = std::max(waited, location.waited);
    for (const uint32_t worker : location.holders) {
      if (loads_.is_lost(worker)) continue;
      if (std::find(near.begin(), near.end(), worker) == near.end()) {
        near.push_back(worker);
      }
    }
  }
  if (near.empty()) return {loads_.least(), false, 0};
  const uint32_t base = nearest(route, near);
  const uint64_t base_finish = finish_on(base, route);
  near.push_back(loads_.least());
  uint32_t best = base;
  uint64_t best_finish = base_finish;
  for (const uint32_t worker : near) {
    const uint64_t finish = finish_on(worker, route);
    if (finish >= best_finish) continue;
    best = worker;
    best_finish = finish;
  }
  if (best == base) return {base, false, 0};
  const uint64_t more = missing_on(best, route) - missing_on(base, route);
  waited += std::min(route.cost, base_finish - best_finish);
  const bool moves = waited > kPatience + 2 * more;
  return moves ? Choice{best, true, 0} : Choice{base, true, waited};
}

// Returns the base (placer.h): the worker among these to which the least has to
// be copied. If several are equal: for a line that costs less than a copy, the
// one where its result was wanted before; else the one that is done with the
// line first.
uint32_t Placer::nearest(const Route& route, const Workers& near) const {
  const uint32_t wanted_by = route.results.empty() || route.cost >= kCopyCost
                                 ? 0
                                 : locations_[route.results[0].id].wanted_by;
  uint32_t best = near[0];
  uint64_t least = missing_on(best, route);
  for (const uint32_t worker : near) {
    const uint64_t missing = missing_on(worker, route);
    if (missing > least || best == worker) continue;
    if (missing == least) {
      if (wanted_by == best + 1) continue;
      if (wanted_by != worker + 1 &&
          finish_on(worker, route) >= finish_on(best, route)) {
        continue;
      }
    }
    best = worker;
    least = missing;
  }
  return best;
}

// Returns the nanoseconds that it takes to bring the operands which the worker
// lacks.
uint64_t Placer::missing_on(uint32_t worker, const Route& route) const {
  uint64_t cost = 0;
  for (const RouteOperand& operand : route.operands) {
    const ValueLocation& location = locations_[operand.id];
    if (location.held != 0 || location.is_on(worker)) continue;
    cost += location.recipe ? location.recipe->cost : copy_cost(operand.bytes);
  }
  return cost;
}

// Returns after how many nanoseconds the worker could be done with the line.
uint64_t Placer::finish_on(uint32_t worker, const Route& route) const {
  uint64_t start = loads_.outstanding(worker);
  for (const RouteOperand& operand : route.operands) {
    const ValueLocation& location = locations_[operand.id];
    if (location.held != 0 || location.recipe || location.is_on(worker))
      continue;
    const uint64_t made = loads_.remaining(location.holders[0], location.ready);
    start = std::max(start, made + copy_cost(operand.bytes));
  }
  return start + route.cost;
}

}  // namespace gt::route
