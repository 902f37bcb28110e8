// Finds what a step is expected to cost under a config. gt-shard --plan prices
// many guesses, and most of them are bad. So there are two prices.
//
// The brief one runs the partitioner over few lines (StepForm::brief) and adds
// up the seconds of all of them, as if nothing overlapped. It is given up as
// soon as it is sure that the guess is no better than another.
//
// The price in order runs the partitioner over two whole steps, puts the lines
// in the order in which gt-shard would write them, that of a schedule too, and
// lets the ranks' clocks run (step_clock.h). Its time is that from the end of
// the first step to the end of the second: what remains after overlap, without
// what a program does once. Its memory is that of the order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "shard/config.h"
#include "shard/layer_chain.h"
#include "shard/plan_cache.h"
#include "shard/step_form.h"

namespace gt::shard {

struct StepPrice {
  double seconds = 0;
  double bytes = 0;  // the most that a rank holds
};

class StepPricer {
 public:
  StepPricer(const StepForm& form, const Machine& machine);

  // Returns the price in order on one rank.
  const StepPrice& alone() const { return alone_; }

  // Returns the brief price, or nothing if gt-shard rejects a line, or when
  // go_on() says of the price so far that it is enough. Neither its seconds nor
  // its bytes become less with another line. Configs that share `plans` must
  // have the same mesh.
  using GoOn = std::function<bool(const StepPrice& so_far)>;
  std::optional<StepPrice> brief(const Config& config, PlanCache& plans,
                                 const GoOn& go_on);
  // Returns the price in order, or nothing if gt-shard rejects a line, or if
  // the size of a line is not known that is known on one rank: so it is where
  // ranks have nothing of a tensor.
  std::optional<StepPrice> in_order(const Config& config);
  // Returns what layers take under a config without stages.
  std::vector<LayerCost> layer_costs(const Config& config,
                                     const std::vector<LayerScopes>& layers);

  // Returns how many lines a price in order has, and how many were taken for
  // prices so far.
  size_t lines() const { return whole_.lines.size(); }
  size_t lines_taken() const { return taken_; }

 private:
  void settle(const Config& alone);

  TwoSteps whole_, brief_;
  StepPrice alone_;
  size_t unknown_alone_ = SIZE_MAX;  // StepClock::unknown()
  size_t taken_ = 0;
};

}  // namespace gt::shard
