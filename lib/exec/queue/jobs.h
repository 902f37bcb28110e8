// What a queue runs besides recipes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/queue/executor.h"

namespace gt::exec {

// A line that was rejected, or that found no memory.
std::unique_ptr<Job> report_job(const Where& origin, Error error,
                                std::string line, Exit status);
// "name = tensor ..." or "name = fail ...". `line`: that prints, as it is
// reported if the value cannot be read.
std::unique_ptr<Job> print_job(Saves::Failure line, std::string name,
                               const Type& type, const Value& value);
std::unique_ptr<Job> print_failure_job(std::string name, std::string message);
// `line`: that saves, as it is reported if that fails.
std::unique_ptr<Job> save_job(Saves::Failure line, std::string path,
                              const Type& type, const Value& value);
// A value whose memory goes back to the backend.
std::unique_ptr<Job> release_job(std::unique_ptr<Value> value, size_t bytes);
// Results leave; a lost standard output is noticed.
std::unique_ptr<Job> flush_job();
// Calls it on the queue's thread.
std::unique_ptr<Job> call_job(std::function<void()> call);
// A task too great for the ring; `words` are its record.
std::unique_ptr<Job> task_job(std::vector<uint64_t> words);

// `job`, or nothing if it is null, with a row in the trace.
std::unique_ptr<Job> traced_job(std::unique_ptr<Job> job, const TraceText* text,
                                uint64_t line);

// Deletes what tasks before it may still use.
template <typename T>
std::unique_ptr<Job> dispose_job(std::unique_ptr<T> object) {
  return make_job([held = std::move(object)](Executor& /*executor*/) {});
}

}  // namespace gt::exec
