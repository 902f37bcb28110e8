// Lines that wait until their value is read, and values that are made again
// rather than copied.
#include <algorithm>

#include "route/costs.h"
#include "route/dispatcher.h"

namespace gt {
namespace {

constexpr size_t kMostHeldText = size_t{64} << 10;
constexpr size_t kMostRecipe = 256;  // bytes, kept beside each value

}  // namespace

// False: the line is to run at once.
bool Dispatcher::hold(const Route& route, std::string_view text) {
  if (loads_.size() == 1 || text.size() > kMostHeldText) return false;
  const RouteResult& result = route.results[0];
  Home& home = homes_[result.id];
  if (home.held != 0) issue_held(result.id, place_alone(result.id));
  while (held_.is_full()) {
    const HomeId oldest = held_.oldest();
    issue_held(oldest, place_alone(oldest));
  }
  release_on(home);
  homes_.bind(result.id, result.type, types_);
  home.held = held_.add({result.id, std::string(text), route.paths, route.cost,
                         result.bytes, source_});
  return true;
}

void Dispatcher::issue_held(HomeId id, uint32_t worker) {
  Home& home = homes_[id];
  HeldLine line = held_.take(std::exchange(home.held, 0));
  const SourceLine now = std::exchange(source_, line.source);
  here_.assign(1, worker);
  fence(line.paths, here_);
  issue(here_, line.text);
  loads_.add(worker, line.cost);
  settle(id, worker, line.bytes);
  if (line.paths.empty() && line.text.size() <= kMostRecipe) {
    home.recipe = Shared<PureLine>(
        {std::move(line.text), line.cost, std::move(line.source)});
  }
  source_ = now;
}

// Before a file is written, what reads it as it was.
void Dispatcher::issue_readers(const std::vector<RoutePath>& paths) {
  for (const RoutePath& path : paths) {
    if (!path.writes) continue;
    for (;;) {
      const HomeId id = held_.oldest_reader(path.file);
      if (id == kNoHome) break;
      issue_held(id, place_alone(id));
    }
  }
}

void Dispatcher::flush() {
  while (held_.oldest() != kNoHome) {
    const HomeId id = held_.oldest();
    issue_held(id, place_alone(id));
  }
}

// In the log this is no instruction: the value is there already.
void Dispatcher::make_again(const PureLine& recipe, uint32_t worker) {
  const SourceLine now = std::exchange(source_, recipe.source);
  issue({worker}, recipe.text, Issue::Kind::kControl);
  loads_.add(worker, recipe.cost);
  source_ = now;
}

// Copies a value to the worker, or makes it there, if it lacks it.
void Dispatcher::bring(const RouteOperand& operand, uint32_t worker) {
  Home& home = homes_[operand.id];
  home.wanted_by = worker + 1;
  if (home.held != 0) return issue_held(operand.id, worker);
  if (home.is_on(worker)) return;
  if (home.recipe) {
    make_again(*home.recipe, worker);
  } else {
    copy(operand, worker);
  }
  loads_.hold(worker, operand.bytes);
  home.holders.push_back(worker);
}

void Dispatcher::copy(const RouteOperand& operand, uint32_t worker) {
  const Home& home = homes_[operand.id];
  const uint32_t from = home.holders[0];
  const std::string_view name = homes_.name_of(operand.id);
  text_.assign(name);
  text_.append(" = copy ").append(name);
  text_.append(" #from=").append(std::to_string(from));
  text_.append(" #to=").append(std::to_string(worker));
  text_.append(" #pieces=").append(to_string(types_[home.stamp.type]));
  issue({std::min(from, worker), std::max(from, worker)}, text_);
  loads_.add(worker, copy_cost(operand.bytes) - kCopyCost);
}

}  // namespace gt
