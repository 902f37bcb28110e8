#include "exec/queue/executor.h"

#include <cstring>
#include <exception>

#include "stream/line.h"

namespace gt {
namespace {

// A result waits for others to leave with, but not for longer than this work.
constexpr uint64_t kMostHeld = 2'000'000;  // nanoseconds

// The column of the op, where the caret belongs when no operand is to blame.
size_t op_column(std::string_view text) {
  Line line;
  return parse_line(text, line).ok() ? line.op_column : 0;
}

}  // namespace

Status run_kernel(Kernel& kernel, std::span<const void* const> in,
                  std::span<void* const> out) {
  try {
    return kernel.run(in, out);
  } catch (const std::exception& e) {
    return Error{e.what()};
  }
}

Executor::Executor(Backend& backend, Saves& saves, Writer& out,
                   ReportSink reports, bool fail_fast, Trace* trace)
    : backend_(backend),
      saves_(saves),
      out_(out),
      reports_(std::move(reports)),
      fail_fast_(fail_fast),
      trace_(trace) {}

void Executor::run(uint64_t* record) {
  auto* head = reinterpret_cast<RecordHead*>(record);
  if (head->kind == kTaskRecord) {
    if (stopped()) [[unlikely]]
      return;
    auto& task = *reinterpret_cast<TaskRecord*>(record);
    at_.store(task.seq, std::memory_order_relaxed);
    return trace_ == nullptr ? run_task(task) : run_traced(task);
  }
  auto& next = *reinterpret_cast<JobRecord*>(record);
  if (!stopped()) at_.store(next.seq, std::memory_order_relaxed);
  const std::unique_ptr<Job> job(next.job);
  job->run(*this);
  if (trace_ != nullptr) trace_->pause();
}

void Executor::run_traced(TaskRecord& task) {
  const Recipe& recipe = *task.recipe;
  const size_t values =
      recipe.arguments + recipe.blocks.size() + recipe.literals;
  trace_->begin();
  run_task(task);
  trace_->end(*static_cast<const TraceText*>(task.values()[values]),
              task.head.line);
}

void Executor::idle() {
  has_output_ = false;
  held_cost_ = 0;
  out_.flush();  // before the saves are waited for, which may take long
  check_output();
  settle_saves();
  if (trace_ != nullptr) trace_->pause();
}

void Executor::report_counts(bool was_written) {
  const std::string text = reported_.take_counts("gt-work", was_written);
  if (!text.empty()) reports_({{}, Exit::kDone, text});
}

void Executor::settle_saves() {
  if (!saves_.waiting()) return;
  for (const Saves::Failure& failure : saves_.settle()) {
    report(failure.where, {"save: " + failure.why, 0}, failure.line,
           Exit::kFailed);
  }
}

void Executor::check_output() {
  if (out_.ok() || output_lost_) return;
  output_lost_ = true;
  status_ = worst(status_, Exit::kUsage);
  stopped_.store(true, std::memory_order_relaxed);
  reports_({{},
            Exit::kUsage,
            std::string("gt-work: cannot write standard output: ") +
                std::strerror(out_.errno_value()) + "\n"});
}

void Executor::run_task(TaskRecord& task) {
  const Recipe& recipe = *task.recipe;
  if (has_output_) hold_output(recipe.cost);
  if (!recipe.is_simple) return run_steps(task);
  if (!faults_.empty()) [[unlikely]]
    return run_simple_careful(task);
  void** values = task.values();
  const std::span<void* const> out(values + recipe.arguments,
                                   recipe.blocks.size());
  const Status s =
      run_kernel(*recipe.steps[0].kernel, {values, recipe.arguments},
                 {values + recipe.arguments, out.size()});
  if (!s.ok()) [[unlikely]]
    set_faults(out, failure(task, s.error()));
}

// Saves that wait are written once what follows them has taken as long as that
// will, so that it never takes more than half of the time.
void Executor::hold_output(uint64_t cost) {
  held_cost_ += cost;
  if (held_cost_ < kMostHeld) return;
  if (held_cost_ >= saves_.settle_cost()) return idle();
  out_.flush();
  check_output();
}

void Executor::run_steps(TaskRecord& task) {
  for (const RecipeStep& step : task.recipe->steps) run_step(task, step);
}

void Executor::run_simple_careful(TaskRecord& task) {
  run_step(task, task.recipe->steps[0]);
}

void Executor::run_step(TaskRecord& task, const RecipeStep& step) {
  const Recipe& recipe = *task.recipe;
  const size_t own = recipe.arguments + recipe.blocks.size();
  void** values = task.values();
  in_.clear();
  results_.clear();
  for (const int32_t v : step.in) {
    const auto i = static_cast<size_t>(v);
    in_.push_back(v == kNoValue ? nullptr
                  : i < own     ? values[i]
                                : &recipe.constants[i - own]);
  }
  for (const int32_t v : step.out) {
    results_.push_back(values[static_cast<size_t>(v)]);
  }
  if (!faults_.empty()) [[unlikely]] {
    if (const Fault fault = first_fault(in_)) {
      return set_faults(results_, fault);
    }
    for (const void* data : results_) faults_.erase(data);
  }
  const Status s = run_kernel(*step.kernel, in_, results_);
  if (!s.ok()) [[unlikely]]
    set_faults(results_, failure(task, s.error()));
}

Fault Executor::first_fault(std::span<const void* const> in) const {
  for (const void* data : in) {
    if (const Fault* fault = fault_of(data)) return *fault;
  }
  return nullptr;
}

void Executor::set_faults(std::span<void* const> out, const Fault& fault) {
  for (const void* data : out) faults_[data] = fault;
}

const Fault* Executor::fault_of(const void* data) const {
  if (faults_.empty()) return nullptr;
  const auto it = faults_.find(data);
  return it == faults_.end() ? nullptr : &it->second;
}

void Executor::forget(const void* data) { faults_.erase(data); }

Fault Executor::failure(TaskRecord& task, const Error& error) {
  const std::string_view text(task.text, task.text_size);
  const Where origin = task.origin();
  const Error whole{task.recipe->op->name + ": " + error.message, 0};
  report(origin, whole, text, Exit::kFailed);
  return std::make_shared<const std::string>(to_string(origin.place()) + ": " +
                                             whole.message);
}

void Executor::report(const Where& origin, const Error& error,
                      std::string_view line, Exit status) {
  if (stopped()) return;
  status_ = worst(status_, status);
  if (fail_fast_) {
    stopped_by_ = to_string(origin.place()) + ": " + error.message;
    stopped_.store(true, std::memory_order_relaxed);
  }
  if (!reported_.is_first(origin.place(), error.message, line)) return;
  const size_t column = error.column != 0 ? error.column : op_column(line);
  reports_(
      {origin.place(), status,
       format_error("gt-work", origin.place(), {error.message, column}, line)});
}

}  // namespace gt
