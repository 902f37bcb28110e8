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
      if (shown.fault != nullptr || shown.from != nullptr) continue;
      if (const Fault* fault = executor.fault_of(shown.data)) {
        shown.fault = *fault;
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
                    std::vector<const void*> results)
      : op_(std::move(op)), results_(std::move(results)) {}
  void run(Executor& executor) override {
    Engine::wait(*op_);
    for (size_t t = 0; t < results_.size(); ++t) {
      if (results_[t] == nullptr) continue;
      if (const Fault& fault = op_->result_fault(t)) {
        executor.poison(results_[t], fault);
      } else {
        executor.forget(results_[t]);
      }
    }
    if (!op_->error) return;
    executor.report(op_->where, *op_->error, op_->exchange->text, op_->status);
  }

 private:
  std::shared_ptr<ExchangeRun> op_;
  std::vector<const void*> results_;  // by target of the last step; or null
};

// So that it is told from other failures, as the loss of a peer.
constexpr char kSaves = '\1';

class TellSavesJob final : public Job {
 public:
  TellSavesJob(std::shared_ptr<ExchangeRun> op, std::string file)
      : op_(std::move(op)), file_(std::move(file)) {}
  void run(Executor& executor) override {
    const std::string failures = executor.saves().failures_in(file_);
    if (failures.empty()) return;
    op_->shown[0].fault =
        std::make_shared<const std::string>(kSaves + failures);
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
    const Fault& fault = op_->result_fault(0);
    if (fault == nullptr) return executor.saves().take_failures(file_, {});
    if (!fault->starts_with(kSaves)) return;
    executor.saves().take_failures(file_, std::string_view(*fault).substr(1));
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
                               std::vector<const void*> results) {
  return std::make_unique<AdoptJob>(std::move(run), std::move(results));
}

}  // namespace gt::comm
