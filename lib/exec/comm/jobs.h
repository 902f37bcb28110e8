// The jobs in which the compute queue starts exchanges and waits for them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/comm/engine.h"
#include "exec/queue/executor.h"

namespace gt::exec::comm {

// Compute has come to the exchange, so it knows which operands have failed: it
// notes that in the run and hands it to the communication thread.
std::unique_ptr<Job> start_job(Engine& engine,
                               std::shared_ptr<ExchangeRun> run);

// Compute waits for the exchange, and goes on with its results or their
// failures. `results`: by target of the last step; null where there is none.
std::unique_ptr<Job> adopt_job(std::shared_ptr<ExchangeRun> run,
                               std::vector<Value*> results);

// For a fence about a file. The worker that saved to the file tells which saves
// have failed (SaveFailures::in()), in the fault of the fence's value; those
// that the fence holds up take that.
std::unique_ptr<Job> tell_saves_job(std::shared_ptr<ExchangeRun> run,
                                    std::string file);
std::unique_ptr<Job> take_saves_job(std::shared_ptr<ExchangeRun> run,
                                    std::string file);

}  // namespace gt::exec::comm
