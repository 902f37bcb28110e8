// The jobs that the compute queue runs besides recipes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exec/queue/executor.h"

namespace gt::exec {

// Makes a job that reports a line that was rejected, or for which there was no
// memory.
std::unique_ptr<Job> report_job(const Where& origin, Error error,
                                std::string line, Exit status);
// Makes a job that writes the result of a print: "name = tensor ...", or "name
// = fail ..." for a value with a fault. `line` is the line that prints, for the
// report if the value cannot be read.
std::unique_ptr<Job> print_job(ShownLine line, std::string name,
                               const Type& type, const Value& value);
std::unique_ptr<Job> print_failure_job(std::string name, std::string message);
// Makes a job that begins to save a value (storage/saves.h). The job sets the
// fields `data` and `made` of the order.
std::unique_ptr<Job> save_job(Saves::Order order, const Value& value);
// Makes a job for a save whose value was never made: loads of the path fail
// from then on, so that they do not find the file's old contents.
std::unique_ptr<Job> save_failure_job(std::string path, std::string message);
// Makes a job that gives a value's memory back to the backend's device.
std::unique_ptr<Job> release_job(std::unique_ptr<Value> value, size_t bytes);
// Makes a job that writes out waiting results and saves, and checks that
// standard output still works.
std::unique_ptr<Job> flush_job();
// Makes a job that does so, too, but for the saves whose groups (Saves) have
// not ended.
std::unique_ptr<Job> settle_job();
// Makes a job that ends the groups of saves; and one that gives them up for
// this reason.
std::unique_ptr<Job> end_saves_job();
std::unique_ptr<Job> abandon_saves_job(std::string why);
// Makes a job that writes out what waits, and then `line` (without its newline)
// as a result.
std::unique_ptr<Job> sync_job(std::string line);
// Makes a job that calls `call` on the queue's thread.
std::unique_ptr<Job> call_job(std::function<void()> call);
// Makes a job that runs a task whose record, `words`, is too long for the ring.
std::unique_ptr<Job> task_job(std::vector<uint64_t> words);
// Makes a job that does nothing; once it has run, all tasks before it are
// settled.
std::unique_ptr<Job> settled_job();

// Makes a job that runs `job`, which may be null, as an instruction with a row
// in the trace.
std::unique_ptr<Job> traced_job(std::unique_ptr<Job> job, const TraceText* text,
                                uint64_t line);

// Makes a job that deletes an object which earlier tasks may use.
template <typename T>
std::unique_ptr<Job> dispose_job(std::unique_ptr<T> object) {
  return make_job([held = std::move(object)](Executor& /*executor*/) {},
                  Job::When::kLater);
}

}  // namespace gt::exec
