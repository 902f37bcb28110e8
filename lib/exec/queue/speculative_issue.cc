#include "exec/queue/speculative_issue.h"

#include <utility>

namespace gt::exec {

SpeculativeIssue::SpeculativeIssue(Device& device, Interpreter& interpreter,
                                   Failed failed, std::function<void()> waits)
    : device_(device),
      interpreter_(interpreter),
      failed_(std::move(failed)),
      before_wait_(std::move(waits)),
      named_(device.leaves_checks() ? kNamed : 0) {}

void SpeculativeIssue::record_repeats() {
  Repeats::Runner& runner = *this;
  if (device_.records()) repeats_.emplace(runner);
}

std::optional<SpeculativeIssue::Named> SpeculativeIssue::find(
    uint64_t task) const {
  const Named& named = named_[task % kNamed];
  if (task == 0 || named.task != task) return std::nullopt;
  return named;
}

void SpeculativeIssue::name_next(const TaskRecord& task) {
  ++last_;
  named_[last_ % kNamed] = {last_, task.origin(), task.recipe->op};
}

void SpeculativeIssue::run(TaskRecord& task) {
  if (!repeats_) return give(task);
  if (interpreter_.knows_faults() || !task.recipe->may_be_recorded) {
    run_held();
    return give(task);
  }
  if (!repeats_->hold(task)) give(task);
}

void SpeculativeIssue::forget(const ForgetRecord& forget) {
  holds() ? repeats_->hold(forget) : device_.forget(forget.data);
}

void SpeculativeIssue::run_held() {
  if (!repeats_) return;
  repeats_->cut();
  patience_ = kPatience;
}

bool SpeculativeIssue::awaits_more(bool is_idle) {
  if (!holds()) return false;
  if (!is_idle) {
    patience_ = kPatience;
  } else if (patience_-- == 0) {
    run_held();
  }
  return holds();
}

void SpeculativeIssue::run_each(Tasks& tasks) {
  tasks.for_each([this](TaskRecord& task) { give(task); },
                 [this](const void* data) { device_.forget(data); });
}

void SpeculativeIssue::give(TaskRecord& task) {
  name_next(task);
  device_.begin(last_);
  if (trace_ != nullptr) device_.begin_span();
  const bool asks = give_one(task);
  if (trace_ != nullptr) add_row(task);
  if (asks || trace_ != nullptr) settle(is_full());
  if (!waits_) return;
  settle(true);
  // An error is ignored here: if it lasts, the next call that needs the device
  // reports it.
  (void)device_.finish();
}

// Gives one task to the device. True if outcomes should be asked for.
bool SpeculativeIssue::give_one(TaskRecord& task) {
  if (interpreter_.knows_faults()) {
    settle(true);
    interpreter_.run(*task.recipe, task.all_values(),
                     [&](const Error& error) { return failed_(task, error); });
    return false;
  }
  outcomes_.clear();
  interpreter_.run_ahead(*task.recipe, task.all_values(), outcomes_);
  const bool asks = is_time_to_ask();
  if (!is_unsure() && outcomes_.empty()) return asks;
  Tasks one;
  one.add(task);
  log(std::move(one), outcomes_);
  return asks || !outcomes_.empty();
}

bool SpeculativeIssue::is_time_to_ask() {
  if (log_.empty()) return false;
  const auto now = std::chrono::steady_clock::now();
  if (++unasked_ < kSome && now - asked_ < kOften) return false;
  unasked_ = 0;
  asked_ = now;
  return true;
}

void SpeculativeIssue::log(Tasks tasks,
                           std::vector<Interpreter::Outcome> outcomes) {
  Entry& entry = log_.emplace_back();
  logged_words_ += tasks.words();
  logged_tasks_ += tasks.size();
  entry.tasks = std::move(tasks);
  entry.outcomes = std::move(outcomes);
}

// ---- recordings -------------------------------------------------------------

// If a step fails while it is recorded, there is no recording, so its tasks run
// one by one and the failure is reported as usual.
std::unique_ptr<Repeats::Recording> SpeculativeIssue::record(
    Tasks& tasks, std::unique_ptr<Repeats::Recording> old) {
  if (!device_.begin_recording().ok()) return nullptr;
  auto made = std::make_unique<Repeats::Recording>();
  size_t n = 0;
  bool is_well = true;
  tasks.for_each(
      [&](TaskRecord& task) {
        if (!is_well) return;
        device_.begin(n);
        interpreter_.run_ahead(*task.recipe, task.all_values(), made->outcomes,
                               n);
        is_well = made->outcomes.empty() || !made->outcomes.back().status;
        ++n;
      },
      [this](const void* data) { device_.forget(data); });
  auto work = device_.end_recording(
      is_well, old == nullptr ? nullptr : std::move(old->work));
  if (!is_well || !work.ok()) return nullptr;
  made->work = std::move(work.value());
  return made;
}

bool SpeculativeIssue::replay(Tasks& tasks,
                              const Repeats::Recording& recording) {
  if (interpreter_.knows_faults() ||
      !device_.replay(*recording.work, last_ + 1).ok()) {
    return false;
  }
  tasks.for_each([this](TaskRecord& task) { name_next(task); });
  if (is_unsure() || !recording.outcomes.empty()) {
    log(std::exchange(tasks, {}), recording.outcomes);
    settle(is_full());
  }
  return true;
}

void SpeculativeIssue::ran_held() {
  for (auto& call : std::exchange(held_calls_, {})) after(std::move(call));
}

// ---- outcomes ---------------------------------------------------------------

void SpeculativeIssue::add_row(TaskRecord& task) {
  device_.end_span();
  Entry& entry = log_.emplace_back();
  entry.row = task.traced();
  entry.line = task.head.line;
}

void SpeculativeIssue::after(std::function<void()> call,
                             std::shared_ptr<DeviceDownload> download) {
  if (holds()) {
    GT_CHECK(download == nullptr);
    held_calls_.push_back(std::move(call));
    return;
  }
  if (log_.empty() && download == nullptr) return call();
  Entry& entry = log_.emplace_back();
  entry.call = std::move(call);
  if (download == nullptr) return;
  entry.download = std::move(download);
  ++downloads_;
  while (downloads_ > kMostDownloads) settle_oldest(true);
  settle(is_full());
}

void SpeculativeIssue::settle(bool waits) {
  while (!log_.empty() && settle_oldest(waits)) {
  }
}

bool SpeculativeIssue::settle_oldest(bool waits) {
  Entry& entry = log_.front();
  if (!is_known(entry, waits)) return false;
  logged_words_ -= entry.tasks.words();
  logged_tasks_ -= entry.tasks.size();
  if (entry.download != nullptr) --downloads_;
  finish(entry);
  log_.pop_front();
  return true;
}

bool SpeculativeIssue::is_known(Entry& entry, bool waits) {
  if (ask(entry, false)) return true;
  if (!waits) return false;
  before_wait_();
  return ask(entry, true);
}

bool SpeculativeIssue::ask(Entry& entry, bool waits) {
  for (Interpreter::Outcome& outcome : entry.outcomes) {
    if (outcome.status) continue;
    outcome.status = device_.take_check(waits);
    if (!outcome.status) return false;
  }
  if (entry.download != nullptr) return entry.download->is_done(waits);
  if (entry.row == nullptr) return true;
  entry.span = device_.take_span(waits);
  return entry.span.has_value();
}

void SpeculativeIssue::finish(Entry& entry) {
  if (entry.call) return entry.call();
  if (entry.row != nullptr) {
    return trace_->add(*entry.row, entry.line, entry.span->start,
                       entry.span->end);
  }
  std::span<const Interpreter::Outcome> rest = entry.outcomes;
  size_t number = 0;
  entry.tasks.for_each([&](TaskRecord& task) {
    size_t own = 0;
    while (own < rest.size() && rest[own].task == number) ++own;
    interpreter_.spread(
        *task.recipe, task.all_values(), rest.first(own),
        [&](const Error& error) { return failed_(task, error); });
    rest = rest.subspan(own);
    ++number;
  });
}

}  // namespace gt::exec
