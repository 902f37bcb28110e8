// gt-log --summary for the log of a run: how much each worker did, and how much
// each client asked for.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "log/run_log.h"

namespace gt::log {

class RunSummary {
 public:
  // Takes any row, in the order of the log. Rows that are not known are
  // skipped.
  void take(const LogRow& row);
  bool is_run() const { return log_.is_run(); }

  // text() returns two tables for people, of workers and of clients; tsv()
  // returns rows with tabs, with the same columns as --summary --tsv.
  std::string text() const;
  std::string tsv() const;

 private:
  static constexpr size_t kMaxClients = size_t{1} << 16;

  struct Worker {
    uint64_t lines = 0;     // sent to it
    uint64_t messages = 0;  // messages with these lines
    uint64_t sent = 0;      // bytes of these messages
    uint64_t received = 0;  // bytes of values from other workers
    uint64_t busy = 0;      // nanoseconds in which its compute queue ran
    uint64_t comm = 0;      // and in which its comm queue ran
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
  uint64_t end_ = 0;  // end of the last span
};

}  // namespace gt::log
