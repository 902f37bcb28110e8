#include "shard/step_price.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/result.h"
#include "shard/gathers_ahead.h"
#include "shard/partitioner.h"
#include "shard/scheduler.h"
#include "shard/step_clock.h"

namespace gt::shard {
namespace {

// The brief price counts the second of two microbatches for all others.
constexpr size_t kMicrobatches = 2;

// Returns the order in which gt-shard writes lines; null: that of the program.
std::unique_ptr<LineOrder> order_of(const Config& config) {
  if (config.schedule()) {
    return std::make_unique<Scheduler>(
        *config.schedule(), config.machine(),
        OnEarlyEnd{[](std::string_view) { return std::string(); },
                   [](const auto&, const auto&, int64_t) {}});
  }
  if (config.gathers_ahead()) {
    return std::make_unique<GathersAhead>(config.machine());
  }
  return nullptr;
}

Config config_alone(const Machine& machine) {
  auto config = Config::parse("mesh: {dp: 1}\n" + machine_yaml(machine), "", 0);
  GT_CHECK(config.ok());
  return std::move(config.value());
}

}  // namespace

StepPricer::StepPricer(const StepForm& form, const Machine& machine)
    : whole_(form.whole()), brief_(form.brief(kMicrobatches)) {
  const Config alone = config_alone(machine);
  settle(alone);
  const auto price = in_order(alone);
  GT_CHECK(price.has_value());
  alone_ = *price;
}

// Lines of a second step, or without most microbatches, may be wrong where
// those of one whole step are right. Then whole steps are priced, or one.
void StepPricer::settle(const Config& alone) {
  const auto is_accepted = [&](TwoSteps& steps) {
    std::swap(brief_, steps);
    PlanCache plans;
    const bool is_so =
        brief(alone, plans, [](const StepPrice&) { return true; }).has_value();
    std::swap(brief_, steps);
    return is_so;
  };
  if (!is_accepted(whole_)) whole_.lines.resize(whole_.second);
  if (!is_accepted(brief_)) {
    brief_ = whole_;
    brief_.lines.resize(brief_.second);
  }
}

std::optional<StepPrice> StepPricer::brief(const Config& config,
                                           PlanCache& plans,
                                           const GoOn& go_on) {
  Partitioner partitioner(config, nullptr, plans);
  StepPrice price;
  double before = 0;
  std::string out;
  for (const StepLine& line : brief_.lines) {
    out.clear();
    ++taken_;
    if (!partitioner.take(line.text, out).ok()) return std::nullopt;
    price.seconds += line.times * (partitioner.seconds() - before);
    price.bytes = partitioner.peak_bytes();
    before = partitioner.seconds();
    if (!go_on(price)) return std::nullopt;
  }
  return price;
}

std::optional<StepPrice> StepPricer::in_order(const Config& config) {
  PlanCache plans;
  Partitioner partitioner(config, nullptr, plans);
  const std::unique_ptr<LineOrder> order = order_of(config);
  StepClock clock(config.machine());
  std::string out, ordered;
  const auto pass_on = [&](bool is_end) {
    ordered.clear();
    if (order != nullptr) order->take(out, ordered);
    if (order != nullptr && is_end) order->finish(ordered);
    clock.take(order != nullptr ? ordered : out);
    out.clear();
  };
  const std::vector<StepLine>& lines = whole_.lines;
  double first = 0;  // the end of the first step
  for (size_t i = 0; i < lines.size(); ++i) {
    ++taken_;
    const auto ahead = [&](size_t index) -> std::string_view {
      const size_t at = i + 1 + index;
      return at < lines.size() ? std::string_view(lines[at].text) : "";
    };
    if (!partitioner.take(lines[i].text, out, "", ahead).ok()) {
      return std::nullopt;
    }
    const bool ends_step = i + 1 == whole_.second && i + 1 < lines.size();
    pass_on(ends_step);
    if (ends_step) first = clock.end();
  }
  partitioner.finish(out);
  pass_on(true);
  if (clock.unknown() > unknown_alone_) return std::nullopt;
  if (unknown_alone_ == SIZE_MAX) unknown_alone_ = clock.unknown();
  return StepPrice{clock.end() - first,
                   order != nullptr ? static_cast<double>(order->peak_bytes())
                                    : partitioner.peak_bytes()};
}

std::vector<LayerCost> StepPricer::layer_costs(
    const Config& config, const std::vector<LayerScopes>& layers) {
  PlanCache plans;
  Partitioner partitioner(config, nullptr, plans);
  LayerCosts costs(layers, config.machine());
  std::string out;
  for (size_t i = 0; i < brief_.lines.size(); ++i) {
    if (i == brief_.second) costs.end_step();
    out.clear();
    ++taken_;
    if (!partitioner.take(brief_.lines[i].text, out).ok()) break;
    costs.take(out, brief_.lines[i].times);
  }
  if (brief_.second == brief_.lines.size()) costs.end_step();
  return costs.costs();
}

}  // namespace gt::shard
