// Where the compute queue and the communication queue meet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/comm/engine.h"
#include "exec/queue/executor.h"

namespace gt::exec::comm {

// Compute has come to the exchange: it knows how its operands fared, and starts
// it.
std::unique_ptr<Job> start_job(Engine& engine,
                               std::shared_ptr<ExchangeRun> run);

// Compute waits for the exchange, and goes on with its results or their
// failures. `results`: by target of the last step; null where there is none.
std::unique_ptr<Job> adopt_job(std::shared_ptr<ExchangeRun> run,
                               std::vector<Value*> results);

// Of a fence for a file: its value, which has no bytes, fails with what failed
// in the file, and the other takes that.
std::unique_ptr<Job> tell_saves_job(std::shared_ptr<ExchangeRun> run,
                                    std::string file);
std::unique_ptr<Job> take_saves_job(std::shared_ptr<ExchangeRun> run,
                                    std::string file);

}  // namespace gt::exec::comm
