// gt-log --summary of the log of a run: what each worker and each client had.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "log/run_log.h"

namespace gt::log {

class RunSummary {
 public:
  void take(const LogRow& row);
  bool is_run() const { return log_.is_run(); }

  // Two tables, of workers and of clients, for people; or rows with tabs of the
  // same columns as --summary --tsv.
  std::string text() const;
  std::string tsv() const;

 private:
  static constexpr size_t kMaxClients = size_t{1} << 16;

  struct Worker {
    uint64_t lines = 0;     // sent to it
    uint64_t messages = 0;  // that they came in
    uint64_t sent = 0;      // bytes of these
    uint64_t received = 0;  // bytes of values from other workers
    uint64_t busy = 0;      // nanoseconds of compute
    uint64_t comm = 0;      // and of comm
  };
  struct Client {
    uint64_t lines = 0;
    uint64_t bytes = 0;
    uint64_t failures = 0;
  };
  void take_issue(const LogRow& row);

  RunLog log_;
  std::map<uint64_t, Worker> workers_;
  std::map<std::string, Client, std::less<>> clients_;
  uint64_t end_ = 0;  // of the last span
};

}  // namespace gt::log
