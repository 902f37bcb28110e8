#include "exec/queue/executor.h"

#include <cstring>

#include "base/clock.h"
#include "file/stored.h"
#include "stream/marks.h"

namespace gt::exec {
namespace {

// A result waits to be written out with later ones, but not while more work
// than this runs.
constexpr uint64_t kMostHeld = 2'000'000;  // nanoseconds
// A group of saves ends when no input has come for so long.
constexpr int64_t kQuiet = 1'000'000'000;  // nanoseconds
// So many bytes of results may wait for saves; beyond that, the executor waits
// until the saves are written.
constexpr size_t kMostHeldBytes = size_t{1} << 20;

}  // namespace

Executor::Executor(Backend& backend, Saves& saves, Writer& out,
                   ReportSink reports, const ExecutorOptions& options)
    : backend_(backend),
      saves_(saves),
      outlet_(out),
      reports_(std::move(reports)),
      fail_fast_(options.fail_fast),
      trace_(options.trace),
      interpreter_(backend.device()),
      is_speculative_(backend.device().leaves_checks()),
      issue_(
          backend.device(), interpreter_,
          [this](const TaskRecord& task, const Error& error) {
            return failure(task, error);
          },
          [this] { let_out(); }) {
  backend.device().allow_delay();
  saves_.set_reader(backend.device().make_reader());
  if (trace_ != nullptr && backend.device().keeps_time()) {
    issue_.record_times(*trace_);
  }
  if (options.waits_for_each) issue_.wait_for_each();
  if (options.records_repeats) issue_.record_repeats();
}

void Executor::run(uint64_t* record) {
  auto* head = reinterpret_cast<RecordHead*>(record);
  if (head->kind == kTaskRecord) {
    if (stopped()) [[unlikely]]
      return;
    auto& task = *reinterpret_cast<TaskRecord*>(record);
    at_.store(task.seq, std::memory_order_release);
    if (meter_.is_on()) [[unlikely]]
      return run_metered(task);
    return trace_ == nullptr ? run_task(task) : run_traced(task);
  }
  if (head->kind == kForgetRecord) {
    return issue_.forget(*reinterpret_cast<ForgetRecord*>(record));
  }
  auto& next = *reinterpret_cast<JobRecord*>(record);
  if (!stopped()) at_.store(next.seq, std::memory_order_release);
  run_job(std::unique_ptr<Job>(next.job));
  if (trace_ != nullptr) trace_->pause();
}

void Executor::run_job(std::unique_ptr<Job> job) {
  if (job->when() != Job::When::kLater) issue_.run_held();
  if (const auto bytes = download(job->wants())) {
    std::shared_ptr<Job> held = std::move(job);
    return issue_.after(
        [this, held, bytes] { held->run_on(*this, bytes->data()); }, bytes);
  }
  if (!issue_.is_settled()) {
    if (job->when() == Job::When::kInOrder ||
        job->when() == Job::When::kLater) {
      std::shared_ptr<Job> held = std::move(job);
      return issue_.after([this, held] { held->run(*this); });
    }
    if (job->when() == Job::When::kSettled) issue_.settle(true);
  }
  job->run(*this);
}

// Begins to copy the value's bytes to the host. Null if the value must be read
// once all tasks are settled: the job wants none, it lies on the host, or it
// may have failed.
std::shared_ptr<DeviceDownload> Executor::download(const Job::Wanted& wanted) {
  if (wanted.value == nullptr || !is_speculative_ || issue_.waits() ||
      stopped() || interpreter_.knows_faults() || loss() != nullptr) {
    return nullptr;
  }
  return backend_.device().begin_download(wanted.value->data, wanted.bytes);
}

bool Executor::awaits(bool is_idle) {
  const bool on_device = awaits_device(is_idle);
  return awaits_saves() || on_device;
}

bool Executor::awaits_saves() {
  if (!outlet_.holds()) return false;
  const int64_t since = quiet_since_.load(std::memory_order_relaxed);
  if (since != 0 && steady_ns() - since > kQuiet) saves_.end_groups();
  let_out();
  return outlet_.holds();
}

// Called when the queue is empty. True while the device may still report
// failures of tasks that it was given, or holds tasks back.
bool Executor::awaits_device(bool is_idle) {
  const bool held = issue_.holds();
  if (issue_.awaits_more(is_idle)) return true;
  const bool holds_back = backend_.device().holds_back();
  if (issue_.is_settled() && !held) return holds_back;
  issue_.settle(false);
  if (!issue_.is_settled()) {
    let_out();
    return true;
  }
  idle();
  return holds_back;
}

// Where the device measures times, SpeculativeIssue adds the row later, with
// those times.
void Executor::run_traced(TaskRecord& task) {
  if (issue_.records_times()) return run_task(task);
  run_traced(*task.traced(), task.head.line, [&] { run_task(task); });
}

void Executor::run_metered(TaskRecord& task) {
  const bool is_timed = meter_.begin(task.recipe->cost);
  trace_ == nullptr ? run_task(task) : run_traced(task);
  is_timed ? meter_.end(*task.recipe->op) : meter_.count(*task.recipe->op);
  for (const Op* op : task.recipe->further_ops) meter_.count(*op);
}

void Executor::idle() {
  let_out();
  if (trace_ != nullptr) trace_->pause();
}

void Executor::settle() {
  if (stopped()) saves_.abandon("a line before the end of the program failed");
  if (outlet_.holds()) saves_.settle();
  idle();
}

void Executor::report_counts(bool was_written) {
  const std::string text = reported_.take_counts("gt-work", was_written);
  if (!text.empty()) reports_({{}, Exit::kDone, "", text});
}

uint64_t Executor::meet_save(const std::string& path) {
  met_saves_.push_back(at());
  note_saves();
  return saves_.announce(path);
}

void Executor::reach_save(uint64_t ticket) {
  outlet_.meet(ticket, met_saves_.front());
  met_saves_.pop_front();
}

// Saves that were reached come before those that were only met, so the first
// unwritten one is looked for there first.
void Executor::note_saves() {
  uint64_t first = outlet_.first_seq();
  if (!outlet_.holds() && !met_saves_.empty()) first = met_saves_.front();
  if (first != saves_from_.exchange(first) && saved_) saved_();
}

void Executor::tell_failed_saves() {
  if (!outlet_.holds()) return;
  for (const Saves::Failure& failure : saves_.take_failures()) {
    if (loss() != nullptr) continue;  // the loss was reported
    const ShownLine& line = failure.line;
    report(line.where, {"save: " + failure.why, line.column}, line.text,
           Exit::kFailed);
  }
}

void Executor::let_out() {
  tell_failed_saves();
  outlet_.let_out(saves_.first_waiting());
  check_output();
  note_saves();
  if (outlet_.holds()) return;
  has_output_ = false;
  held_cost_ = 0;
}

void Executor::begun_save() {
  has_output_ = true;
  saved_group_.follow(Statement::kSave);
}

void Executor::wrote() {
  has_output_ = true;
  saved_group_.end();
  saves_.end_groups();  // since the result waits for them
  if (outlet_.held_bytes() < kMostHeldBytes) return;
  saves_.settle();
  let_out();
}

void Executor::expect_result(int64_t elements) {
  constexpr int64_t kMany = kMostHeldBytes / 16;
  if (elements > kMany && outlet_.holds()) settle();
}

// A load must see the saves before it. If one of them has not begun, this
// settles the tasks before the load, so that it begins.
void Executor::settle_before(const TaskRecord& task) {
  if (met_saves_.empty() || task.recipe->loads.empty() ||
      !saves_.expects(task.recipe->loads)) {
    return;
  }
  issue_.run_held();
  issue_.settle(true);
}

void Executor::check_output() {
  if (outlet_.out().ok() || output_lost_) return;
  output_lost_ = true;
  status_ = worst(status_, Exit::kUsage);
  stopped_.store(true, std::memory_order_relaxed);
  reports_({{},
            Exit::kUsage,
            "",
            std::string("gt-work: cannot write standard output: ") +
                std::strerror(outlet_.out().errno_value()) + "\n"});
}

void Executor::run_task(TaskRecord& task) {
  if (has_output_) hold_output(task.recipe->cost);
  if (is_speculative_) {
    settle_before(task);
    if (loss() == nullptr) issue_.run(task);
    return;
  }
  interpreter_.run(
      *task.recipe, {task.values(), task.value_count()},
      [this, &task](const Error& error) { return failure(task, error); });
}

void Executor::hold_output(uint64_t cost) {
  if (saved_group_.follow(Statement::kCompute)) saves_.end_groups();
  held_cost_ += cost;
  if (held_cost_ < kMostHeld) return;
  held_cost_ = 0;
  let_out();
}

const Fault& Executor::loss() {
  if (!is_speculative_ || lost_ != nullptr) return lost_;
  const auto loss = backend_.device().loss();
  if (!loss) return lost_;
  const bool is_sure = issue_.waits();
  const auto named = issue_.find(is_sure ? issue_.last() : loss->task);
  const Where origin = named ? named->origin : Where{};
  const std::string why =
      (named ? named->op->name + ": " : std::string()) + loss->why;
  lost_ = std::make_shared<const std::string>(
      (named ? to_string(origin.place()) + ": " : std::string()) + why);
  is_lost_.store(true, std::memory_order_relaxed);
  const std::string_view hint =
      is_sure ? "; all values are lost, and the worker ends"
      : named ? "; this line had begun last, and is to blame or a product of "
                "matrices beside it; all values are lost, and the worker ends; "
                "with --sync the line is told for sure"
              : "; all values are lost, and the worker ends; with --sync the "
                "line is told";
  report(origin, {why + std::string(hint), 0}, "", Exit::kLost);
  return lost_;
}

Fault Executor::failure(const TaskRecord& task, const Error& error) {
  if (loss() != nullptr) return lost_;
  tell_failed_saves();  // the task may be a load of a failed save
  const std::string_view text(task.text, task.text_size);
  const Where origin = task.origin();
  const Error whole{task.recipe->op->name + ": " + error.message,
                    task.op_column};
  report(origin, whole, text, Exit::kFailed);
  return std::make_shared<const std::string>(to_string(origin.place()) + ": " +
                                             whole.message);
}

void Executor::report(const Where& origin, const Error& error,
                      std::string_view line, Exit status) {
  if (stopped()) return;
  status_ = worst(status_, status);
  if (fail_fast_) {
    const std::string at = to_string(origin.place());
    stopped_by_ = at + (at.empty() ? "" : ": ") + error.message;
    stopped_.store(true, std::memory_order_relaxed);
  }
  if (!reported_.is_first(origin.place(), error.message, line)) return;
  const std::string space(outer_space(line));
  std::string text = format_error("gt-work", origin.place(), error, line);
  if (!writes_reports_) {
    return reports_({origin.place(), status, space, std::move(text)});
  }
  out().write(to_string(ReportMark{status, space, std::move(text)}) + "\n");
  wrote();
}

}  // namespace gt::exec
