#include "exec/queue/jobs.h"

#include "exec/queue/value_text.h"

namespace gt::exec {
namespace {

Result<const void*> view(Executor& executor, const Type& type,
                         const Value& value) {
  return executor.backend().device().view(value.data, type.bytes(),
                                          executor.scratch());
}

Fault fault_of(Executor& executor, const Value& value) {
  return value.fault != nullptr ? value.fault : executor.loss();
}

}  // namespace

std::unique_ptr<Job> report_job(const Where& origin, Error error,
                                std::string line, Exit status) {
  return make_job(
      [origin, error = std::move(error), line = std::move(line), status](
          Executor& executor) { executor.report(origin, error, line, status); },
      Job::When::kInOrder);
}

namespace {

class PrintJob final : public Job {
 public:
  PrintJob(ShownLine line, std::string name, const Type& type,
           const Value& value)
      : line_(std::move(line)),
        name_(std::move(name)),
        type_(type),
        value_(value) {}

  void run(Executor& executor) override {
    print(executor, [&] { return view(executor, type_, value_); });
  }
  Wanted wants() const override { return {&value_, type_.bytes()}; }
  void run_on(Executor& executor, Result<const void*> bytes) override {
    print(executor, [&] { return bytes; });
  }

 private:
  template <typename Read>
  void print(Executor& executor, const Read& read) {
    if (executor.stopped()) return;
    executor.expect_result(type_.elements());
    if (const Fault fault = fault_of(executor, value_)) {
      write_failure(executor.out(), name_, *fault);
    } else if (const Result<const void*> data = read(); data.ok()) {
      write_tensor(executor.out(), name_, type_, data.value());
    } else if (const Fault& lost = executor.loss()) {
      write_failure(executor.out(), name_, *lost);
    } else {
      write_failure(executor.out(), name_, data.error().message);
      executor.report(line_.where,
                      {"print: " + data.error().message, line_.column},
                      line_.text, Exit::kFailed);
    }
    executor.wrote();
    executor.check_output();
  }

  ShownLine line_;
  std::string name_;
  Type type_;
  const Value& value_;
};

// A job that is an instruction with a row in the trace. Its inner job may be
// null.
class TracedJob final : public Job {
 public:
  TracedJob(std::unique_ptr<Job> job, const TraceText& text, uint64_t line)
      : Job(job == nullptr ? When::kAtOnce : job->when()),
        job_(std::move(job)),
        text_(text),
        line_(line) {}

  void run(Executor& executor) override {
    // A print or save does nothing once the executor has stopped, so it gets no
    // row.
    if (executor.stopped()) return;
    executor.run_traced(text_, line_, [&] {
      if (job_ != nullptr) job_->run(executor);
    });
  }
  Wanted wants() const override {
    return job_ == nullptr ? Wanted{} : job_->wants();
  }
  // Other instructions may have begun since this one's turn, so its row starts
  // now.
  void run_on(Executor& executor, Result<const void*> bytes) override {
    if (executor.stopped()) return;
    executor.trace()->pause();
    executor.trace()->begin();
    job_->run_on(executor, std::move(bytes));
    executor.trace()->end(text_, line_);
    executor.trace()->pause();
  }

 private:
  std::unique_ptr<Job> job_;
  const TraceText& text_;
  uint64_t line_;
};

}  // namespace

std::unique_ptr<Job> print_job(ShownLine line, std::string name,
                               const Type& type, const Value& value) {
  return std::make_unique<PrintJob>(std::move(line), std::move(name), type,
                                    value);
}

std::unique_ptr<Job> print_failure_job(std::string name, std::string message) {
  return make_job(
      [name = std::move(name),
       message = std::move(message)](Executor& executor) {
        if (executor.stopped()) return;
        write_failure(executor.out(), name, message);
        executor.wrote();
        executor.check_output();
      },
      Job::When::kInOrder);
}

namespace {

// Begins a save, once it is known whether its value was made. Where no reader
// copies values beside the queue, the bytes are copied here.
void begin_save(Executor& executor, uint64_t ticket, Saves::Order order,
                const Value& value) {
  Saves& saves = executor.saves();
  executor.reach_save(ticket);
  if (executor.stopped() || !executor.backend().device().has_data()) {
    return saves.drop(ticket);
  }
  if (const Fault fault = fault_of(executor, value)) {
    return saves.fail(ticket, order.path, *fault);
  }
  order.data = value.data;
  if (!saves.has_reader()) {
    const auto data = view(executor, order.type, value);
    if (!data.ok()) {
      saves.fail(ticket, order.path, data.error().message);
      if (executor.loss() != nullptr) return;
      const ShownLine& line = order.line;
      return executor.report(line.where,
                             {"save: " + data.error().message, line.column},
                             line.text, Exit::kFailed);
    }
    order.data = data.value();
  }
  saves.begin(ticket, std::move(order));
  executor.begun_save();
  if (saves.has_reader() && !executor.looks_at_each()) return;
  saves.read_all();
  executor.let_out();
}

}  // namespace

std::unique_ptr<Job> save_job(Saves::Order order, const Value& value) {
  return make_job(
      [order = std::move(order), &value](Executor& executor) mutable {
        if (executor.stopped()) return;
        const uint64_t ticket = executor.meet_save(order.path);
        order.made = executor.backend().device().record();
        executor.speculative_issue().after(
            [&executor, ticket, order = std::move(order), &value]() mutable {
              begin_save(executor, ticket, std::move(order), value);
            });
      },
      Job::When::kAtOnce);
}

std::unique_ptr<Job> save_failure_job(std::string path, std::string message) {
  return make_job([path = std::move(path),
                   message = std::move(message)](Executor& executor) {
    if (executor.stopped()) return;
    const uint64_t ticket = executor.meet_save(path);
    executor.reach_save(ticket);
    executor.saves().fail(ticket, path, message);
  });
}

std::unique_ptr<Job> release_job(std::unique_ptr<Value> value, size_t bytes) {
  return make_job(
      [value = std::shared_ptr<Value>(std::move(value)),
       bytes](Executor& executor) {
        executor.backend().device().release(value->data, bytes);
        executor.speculative_issue().after(
            [&executor, value] { executor.interpreter().clear(*value); });
      },
      Job::When::kAtOnce);
}

std::unique_ptr<Job> flush_job() {
  return make_job([](Executor& executor) { executor.settle(); });
}

std::unique_ptr<Job> settle_job() {
  return make_job([](Executor& executor) { executor.idle(); });
}

std::unique_ptr<Job> end_saves_job() {
  return make_job([](Executor& executor) { executor.saves().end_groups(); });
}

std::unique_ptr<Job> abandon_saves_job(std::string why) {
  return make_job([why = std::move(why)](Executor& executor) {
    executor.saves().abandon(why);
  });
}

std::unique_ptr<Job> sync_job(std::string line) {
  return make_job([line = std::move(line)](Executor& executor) {
    if (executor.stopped()) return;
    executor.settle();
    executor.out().write(line + "\n");
    executor.out().flush();
    executor.check_output();
  });
}

std::unique_ptr<Job> call_job(std::function<void()> call) {
  return make_job([call = std::move(call)](Executor& /*executor*/) { call(); },
                  Job::When::kLater);
}

std::unique_ptr<Job> settled_job() {
  return make_job([](Executor& /*executor*/) {});
}

std::unique_ptr<Job> task_job(std::vector<uint64_t> words) {
  return make_job(
      [words = std::move(words)](Executor& executor) mutable {
        executor.run(words.data());
      },
      Job::When::kAtOnce);
}

std::unique_ptr<Job> traced_job(std::unique_ptr<Job> job, const TraceText* text,
                                uint64_t line) {
  return std::make_unique<TracedJob>(std::move(job), *text, line);
}

}  // namespace gt::exec
