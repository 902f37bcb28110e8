#include "exec/comm/jobs.h"

namespace gt::exec::comm {

std::unique_ptr<Job> start_job(Engine& engine,
                               std::shared_ptr<ExchangeRun> run) {
  return make_job([&engine, run = std::move(run)](Executor& executor) {
    for (ExchangeRun::Shown& shown : run->shown) {
      if (shown.value == nullptr || shown.from != nullptr) continue;
      if (shown.value->fault != nullptr) {
        shown.fault = shown.value->fault;
      } else if (const Fault& lost = executor.loss()) {
        shown.fault = lost;
      } else if (executor.stopped()) {
        shown.fault =
            std::make_shared<const std::string>(executor.stopped_by());
      }
    }
    Device& device = executor.backend().device();
    run->operands_made = device.record();
    run->begun = device.done_at();
    engine.start(run);
  });
}

std::unique_ptr<Job> adopt_job(std::shared_ptr<ExchangeRun> run,
                               std::vector<Value*> results) {
  return make_job([run = std::move(run),
                   results = std::move(results)](Executor& executor) {
    if (!run->is_done.load()) {
      executor.backend().device().flush();
      executor.meter().pause(Meter::Pause::kWaits);
      Engine::wait(*run);
      executor.meter().resume();
    }
    executor.backend().device().begin_at(run->ended);
    for (size_t t = 0; t < results.size(); ++t) {
      if (results[t] == nullptr) continue;
      if (const Fault& fault = run->result_fault(t)) {
        executor.interpreter().poison(*results[t], fault);
      } else {
        executor.interpreter().clear(*results[t]);
      }
    }
    if (!run->error) return;
    executor.report(run->where, *run->error, run->exchange->text, run->status);
  });
}

std::unique_ptr<Job> tell_saves_job(std::shared_ptr<ExchangeRun> run,
                                    std::string file) {
  return make_job(
      [run = std::move(run), file = std::move(file)](Executor& executor) {
        const std::string failures = executor.saves().failures().in(file);
        if (failures.empty()) return;
        run->shown[0].fault = std::make_shared<const std::string>(failures);
      });
}

std::unique_ptr<Job> take_saves_job(std::shared_ptr<ExchangeRun> run,
                                    std::string file) {
  return make_job(
      [run = std::move(run), file = std::move(file)](Executor& executor) {
        // If the fence itself failed, the failures of saves are unknown.
        if (run->error) {
          return executor.saves().failures().lose(file, run->error->message);
        }
        const Fault& told = run->result_fault(0);
        executor.saves().failures().take(file, told == nullptr ? "" : *told);
      });
}

}  // namespace gt::exec::comm
