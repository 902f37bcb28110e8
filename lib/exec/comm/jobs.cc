#include "exec/comm/jobs.h"

namespace gt::comm {
namespace {

// Compute has come to the exchange: it knows the operands' failures.
class StartJob final : public Job {
 public:
  StartJob(Engine& engine, std::shared_ptr<ExchangeRun> op)
      : engine_(engine), op_(std::move(op)) {}
  void run(Executor& executor) override {
    for (ExchangeRun::Shown& shown : op_->shown) {
      if (shown.value == nullptr || shown.from != nullptr) continue;
      if (shown.value->fault != nullptr) {
        shown.fault = shown.value->fault;
      } else if (executor.stopped()) {
        shown.fault =
            std::make_shared<const std::string>(executor.stopped_by());
      }
    }
    engine_.start(std::move(op_));
  }

 private:
  Engine& engine_;
  std::shared_ptr<ExchangeRun> op_;
};

// Compute goes on with the results, or their failures.
class AdoptJob final : public Job {
 public:
  explicit AdoptJob(std::shared_ptr<ExchangeRun> op,
                    std::vector<Value*> results)
      : op_(std::move(op)), results_(std::move(results)) {}
  void run(Executor& executor) override {
    Engine::wait(*op_);
    for (size_t t = 0; t < results_.size(); ++t) {
      if (results_[t] == nullptr) continue;
      if (const Fault& fault = op_->result_fault(t)) {
        executor.interpreter().poison(*results_[t], fault);
      } else {
        executor.interpreter().clear(*results_[t]);
      }
    }
    if (!op_->error) return;
    executor.report(op_->where, *op_->error, op_->exchange->text, op_->status);
  }

 private:
  std::shared_ptr<ExchangeRun> op_;
  std::vector<Value*> results_;  // by target of the last step; or null
};

class TellSavesJob final : public Job {
 public:
  TellSavesJob(std::shared_ptr<ExchangeRun> op, std::string file)
      : op_(std::move(op)), file_(std::move(file)) {}
  void run(Executor& executor) override {
    const std::string failures = executor.saves().failures_in(file_);
    if (failures.empty()) return;
    op_->shown[0].fault = std::make_shared<const std::string>(failures);
  }

 private:
  std::shared_ptr<ExchangeRun> op_;
  std::string file_;
};

class TakeSavesJob final : public Job {
 public:
  TakeSavesJob(std::shared_ptr<ExchangeRun> op, std::string file)
      : op_(std::move(op)), file_(std::move(file)) {}
  void run(Executor& executor) override {
    if (op_->error) return;  // the fence itself failed: nobody said anything
    const Fault& told = op_->result_fault(0);
    executor.saves().take_failures(file_, told == nullptr ? "" : *told);
  }

 private:
  std::shared_ptr<ExchangeRun> op_;
  std::string file_;
};

}  // namespace

std::unique_ptr<Job> tell_saves_job(std::shared_ptr<ExchangeRun> run,
                                    std::string file) {
  return std::make_unique<TellSavesJob>(std::move(run), std::move(file));
}

std::unique_ptr<Job> take_saves_job(std::shared_ptr<ExchangeRun> run,
                                    std::string file) {
  return std::make_unique<TakeSavesJob>(std::move(run), std::move(file));
}

std::unique_ptr<Job> start_job(Engine& engine,
                               std::shared_ptr<ExchangeRun> run) {
  return std::make_unique<StartJob>(engine, std::move(run));
}

std::unique_ptr<Job> adopt_job(std::shared_ptr<ExchangeRun> run,
                               std::vector<Value*> results) {
  return std::make_unique<AdoptJob>(std::move(run), std::move(results));
}

}  // namespace gt::comm
