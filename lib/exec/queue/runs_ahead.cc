#include "exec/queue/runs_ahead.h"

#include "exec/queue/executor.h"

namespace gt::exec {

std::optional<RunsAhead::Named> RunsAhead::find(uint64_t task) const {
  const Named& named = named_[task % kMost];
  if (task == 0 || named.task != task) return std::nullopt;
  return named;
}

void RunsAhead::run(TaskRecord& task) {
  ++last_;
  named_[last_ % kMost] = {last_, task.origin(), task.recipe->op};
  device_.begin(last_);
  run_one(task);
  if (!waits_) return;
  settle(true);
  // What it says is said again by whoever needs the device, if it lasts.
  (void)device_.finish();
}

void RunsAhead::run_one(TaskRecord& task) {
  const std::span<Value* const> values(task.values(), task.value_count());
  if (interpreter_.knows_faults()) {
    settle(true);
    return interpreter_.run(*task.recipe, values, [&](const Error& error) {
      return failed_(task, error);
    });
  }
  outcomes_.clear();
  interpreter_.run_ahead(*task.recipe, values, outcomes_);
  if (log_.empty() && outcomes_.empty()) return;
  const auto* words = reinterpret_cast<const uint64_t*>(&task);
  log_.push_back(
      {{words, words + kTaskWords + values.size()}, outcomes_, nullptr});
  if (!outcomes_.empty() || log_.size() % kSome == 0) {
    settle(log_.size() >= kMost);
  }
}

void RunsAhead::after(std::function<void()> call) {
  if (log_.empty()) return call();
  log_.push_back({{}, {}, std::move(call)});
}

void RunsAhead::settle(bool waits) {
  while (!log_.empty() && is_known(log_.front(), waits)) {
    finish(log_.front());
    log_.pop_front();
  }
}

bool RunsAhead::is_known(Entry& entry, bool waits) {
  for (Interpreter::Outcome& outcome : entry.outcomes) {
    if (outcome.status) continue;
    outcome.status = device_.take_check(waits);
    if (!outcome.status) return false;
  }
  return true;
}

void RunsAhead::finish(Entry& entry) {
  if (entry.call) return entry.call();
  auto& task = *reinterpret_cast<TaskRecord*>(entry.task.data());
  interpreter_.spread(*task.recipe, {task.values(), task.value_count()},
                      entry.outcomes,
                      [&](const Error& error) { return failed_(task, error); });
}

}  // namespace gt::exec
