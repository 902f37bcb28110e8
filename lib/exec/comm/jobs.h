// The jobs in which the compute queue starts exchanges and waits for them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/comm/engine.h"
#include "exec/queue/executor.h"

namespace gt::exec::comm {

// Makes a job that notes in the run which operands have failed, which is known
// once compute has come to the exchange, and hands the run to the communication
// thread.
std::unique_ptr<Job> start_job(Engine& engine,
                               std::shared_ptr<ExchangeRun> run);

// Makes a job in which compute waits for the exchange and then goes on with its
// results or their failures. `results` are by target of the last step, null
// where there is none.
std::unique_ptr<Job> adopt_job(std::shared_ptr<ExchangeRun> run,
                               std::vector<Value*> results);

// Make the jobs of a fence about a file. In the first, the worker that saved to
// the file tells which saves have failed (SaveFailures::in()), by the fault of
// the fence's value. In the second, the workers that wait at the fence take
// that over.
std::unique_ptr<Job> tell_saves_job(std::shared_ptr<ExchangeRun> run,
                                    std::string file);
std::unique_ptr<Job> take_saves_job(std::shared_ptr<ExchangeRun> run,
                                    std::string file);

}  // namespace gt::exec::comm
