#include "exec/queue/jobs.h"

#include "exec/queue/value_text.h"

namespace gt {
namespace {

class ReportJob final : public Job {
 public:
  ReportJob(const Where& origin, Error error, std::string line, Exit status)
      : origin_(origin),
        error_(std::move(error)),
        line_(std::move(line)),
        status_(status) {}
  void run(Executor& executor) override {
    executor.report(origin_, error_, line_, status_);
  }

 private:
  Where origin_;
  Error error_;
  std::string line_;
  Exit status_;
};

class PrintJob final : public Job {
 public:
  PrintJob(std::string name, const Type& type, const Value& value)
      : name_(std::move(name)), type_(type), value_(value) {}
  void run(Executor& executor) override {
    if (executor.stopped()) return;
    if (value_.fault != nullptr) {
      write_failure(executor.out(), name_, *value_.fault);
    } else {
      write_tensor(executor.out(), name_, type_,
                   executor.backend().read(value_.data, type_.bytes(),
                                           executor.scratch()));
    }
    executor.wrote();
    executor.check_output();
  }

 private:
  std::string name_;
  Type type_;
  const Value& value_;
};

class PrintFailureJob final : public Job {
 public:
  PrintFailureJob(std::string name, std::string message)
      : name_(std::move(name)), message_(std::move(message)) {}
  void run(Executor& executor) override {
    if (executor.stopped()) return;
    write_failure(executor.out(), name_, message_);
    executor.wrote();
    executor.check_output();
  }

 private:
  std::string name_;
  std::string message_;
};

class SaveJob final : public Job {
 public:
  SaveJob(const Where& origin, std::string line, std::string path,
          const Type& type, const Value& value)
      : origin_(origin),
        line_(std::move(line)),
        path_(std::move(path)),
        type_(type),
        value_(value) {}
  void run(Executor& executor) override {
    if (executor.stopped()) return;
    if (value_.fault != nullptr) {
      return executor.saves().fail(path_, *value_.fault);
    }
    if (!executor.backend().has_data()) return;
    const void* data =
        executor.backend().read(value_.data, type_.bytes(), executor.scratch());
    const Status s =
        executor.saves().save(path_, type_, data, {origin_, line_, ""});
    executor.wrote();
    if (s.ok()) return;
    executor.report(origin_, {"save: " + s.error().message, 0}, line_,
                    Exit::kFailed);
  }

 private:
  Where origin_;
  std::string line_;
  std::string path_;
  Type type_;
  const Value& value_;
};

class ReleaseJob final : public Job {
 public:
  ReleaseJob(std::unique_ptr<Value> value, size_t bytes)
      : value_(std::move(value)), bytes_(bytes) {}
  void run(Executor& executor) override {
    executor.interpreter().clear(*value_);
    executor.backend().release(value_->data, bytes_);
  }

 private:
  std::unique_ptr<Value> value_;
  size_t bytes_;
};

class FlushJob final : public Job {
 public:
  void run(Executor& executor) override { executor.idle(); }
};

class CallJob final : public Job {
 public:
  explicit CallJob(std::function<void()> call) : call_(std::move(call)) {}
  void run(Executor& /*executor*/) override { call_(); }

 private:
  std::function<void()> call_;
};

class TaskJob final : public Job {
 public:
  explicit TaskJob(std::vector<uint64_t> words) : words_(std::move(words)) {}
  void run(Executor& executor) override { executor.run(words_.data()); }

 private:
  std::vector<uint64_t> words_;
};

class TracedJob final : public Job {
 public:
  TracedJob(std::unique_ptr<Job> job, const TraceText* text, uint64_t line)
      : job_(std::move(job)), text_(text), line_(line) {}
  void run(Executor& executor) override {
    if (executor.stopped()) return;  // a print or a save, which does nothing
    executor.trace()->begin();
    if (job_ != nullptr) job_->run(executor);
    executor.trace()->end(*text_, line_);
  }

 private:
  std::unique_ptr<Job> job_;
  const TraceText* text_;
  uint64_t line_;
};

}  // namespace

std::unique_ptr<Job> report_job(const Where& origin, Error error,
                                std::string line, Exit status) {
  return std::make_unique<ReportJob>(origin, std::move(error), std::move(line),
                                     status);
}

std::unique_ptr<Job> print_job(std::string name, const Type& type,
                               const Value& value) {
  return std::make_unique<PrintJob>(std::move(name), type, value);
}

std::unique_ptr<Job> print_failure_job(std::string name, std::string message) {
  return std::make_unique<PrintFailureJob>(std::move(name), std::move(message));
}

std::unique_ptr<Job> save_job(const Where& origin, std::string line,
                              std::string path, const Type& type,
                              const Value& value) {
  return std::make_unique<SaveJob>(origin, std::move(line), std::move(path),
                                   type, value);
}

std::unique_ptr<Job> release_job(std::unique_ptr<Value> value, size_t bytes) {
  return std::make_unique<ReleaseJob>(std::move(value), bytes);
}

std::unique_ptr<Job> flush_job() { return std::make_unique<FlushJob>(); }

std::unique_ptr<Job> call_job(std::function<void()> call) {
  return std::make_unique<CallJob>(std::move(call));
}

std::unique_ptr<Job> task_job(std::vector<uint64_t> words) {
  return std::make_unique<TaskJob>(std::move(words));
}

std::unique_ptr<Job> traced_job(std::unique_ptr<Job> job, const TraceText* text,
                                uint64_t line) {
  return std::make_unique<TracedJob>(std::move(job), text, line);
}

}  // namespace gt
