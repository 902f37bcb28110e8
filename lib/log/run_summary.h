// gt-log --summary of the log of a run: how much each worker did, and how much
// each client asked for.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "log/run_log.h"

namespace gt::log {

class RunSummary {
 public:
  // Takes any row, in the order of the log; what it does not know it leaves
  // out.
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
    uint64_t messages = 0;  // in which these came
    uint64_t sent = 0;      // bytes of these messages
    uint64_t received = 0;  // bytes of values from other workers
    uint64_t busy = 0;      // nanoseconds that its compute queue ran
    uint64_t comm = 0;      // and its comm queue
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
