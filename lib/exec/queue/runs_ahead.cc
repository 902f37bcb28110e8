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
  if (trace_ != nullptr) device_.begin_span();
  const bool asks = run_one(task);
  if (trace_ != nullptr) add_row(task);
  if (asks || trace_ != nullptr) settle(log_.size() >= kMost);
  if (!waits_) return;
  settle(true);
  // What it says is said again by whoever needs the device, if it lasts.
  (void)device_.finish();
}

// Whether outcomes are to be asked for.
bool RunsAhead::run_one(TaskRecord& task) {
  const std::span<Value* const> values(task.values(), task.value_count());
  if (interpreter_.knows_faults()) {
    settle(true);
    interpreter_.run(*task.recipe, values,
                     [&](const Error& error) { return failed_(task, error); });
    return false;
  }
  outcomes_.clear();
  interpreter_.run_ahead(*task.recipe, values, outcomes_);
  if (log_.empty() && outcomes_.empty()) return false;
  const auto* words = reinterpret_cast<const uint64_t*>(&task);
  Entry& entry = log_.emplace_back();
  entry.task.assign(words, words + kTaskWords + values.size());
  entry.outcomes = outcomes_;
  return !outcomes_.empty() || log_.size() % kSome == 0;
}

void RunsAhead::add_row(TaskRecord& task) {
  device_.end_span();
  Entry& entry = log_.emplace_back();
  entry.row = task.traced();
  entry.line = task.head.line;
}

void RunsAhead::after(std::function<void()> call) {
  if (log_.empty()) return call();
  log_.emplace_back().call = std::move(call);
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
  if (entry.row == nullptr) return true;
  entry.span = device_.take_span(waits);
  return entry.span.has_value();
}

void RunsAhead::finish(Entry& entry) {
  if (entry.call) return entry.call();
  if (entry.row != nullptr) {
    return trace_->add(*entry.row, entry.line, entry.span->start,
                       entry.span->end);
  }
  auto& task = *reinterpret_cast<TaskRecord*>(entry.task.data());
  interpreter_.spread(*task.recipe, {task.values(), task.value_count()},
                      entry.outcomes,
                      [&](const Error& error) { return failed_(task, error); });
}

}  // namespace gt::exec
