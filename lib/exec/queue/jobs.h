// The jobs that the compute queue runs besides recipes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/queue/executor.h"

namespace gt::exec {

// Reports a line that was rejected, or that found no memory.
std::unique_ptr<Job> report_job(const Where& origin, Error error,
                                std::string line, Exit status);
// Writes the result of a print: "name = tensor ...", or "name = fail ..." for a
// value with a fault. `line` is the line that prints, for the report if the
// value cannot be read.
std::unique_ptr<Job> print_job(ShownLine line, std::string name,
                               const Type& type, const Value& value);
std::unique_ptr<Job> print_failure_job(std::string name, std::string message);
// Begins to save a value (storage/saves.h). The job fills in where the value
// lies, and what is before it.
std::unique_ptr<Job> save_job(Saves::Order order, const Value& value);
// For a save whose value never came to be: loads of the path fail from now on,
// rather than find what was there before.
std::unique_ptr<Job> save_failure_job(std::string path, std::string message);
// Gives a value's memory back to the backend's device.
std::unique_ptr<Job> release_job(std::unique_ptr<Value> value, size_t bytes);
// Writes out results and saves that wait; notices a lost standard output.
std::unique_ptr<Job> flush_job();
// Writes out what waits, and then the line, without its LF, as a result.
std::unique_ptr<Job> sync_job(std::string line);
// Calls `call` on the queue's thread.
std::unique_ptr<Job> call_job(std::function<void()> call);
// Runs a task whose record, `words`, is too great for the ring.
std::unique_ptr<Job> task_job(std::vector<uint64_t> words);
// Does nothing: behind it all tasks before are settled.
std::unique_ptr<Job> settled_job();

// Runs `job`, which may be null, as an instruction with a row in the trace.
std::unique_ptr<Job> traced_job(std::unique_ptr<Job> job, const TraceText* text,
                                uint64_t line);

// Deletes an object that tasks before it may still use.
template <typename T>
std::unique_ptr<Job> dispose_job(std::unique_ptr<T> object) {
  return make_job([held = std::move(object)](Executor& /*executor*/) {},
                  Job::When::kLater);
}

}  // namespace gt::exec
