// The log of a run, gt-log(5): what was dispatched to whom, and what came of
// it. Without a descriptor it costs a test a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "net/roster.h"
#include "route/dispatcher.h"
#include "stream/log_rows.h"

namespace gt {

class RunRecorder {
 public:
  RunRecorder() : rows_(-1) {}
  explicit RunRecorder(int fd) : rows_(fd), is_on_(fd >= 0) {}

  bool is_on() const { return is_on_; }
  // Rows until the next call have this time.
  void tick() {
    if (is_on_) now_ = LogTime::now();
  }
  void flush() { rows_.flush(); }
  int errno_value() const { return rows_.errno_value(); }

  void issue(const Issue& issue);
  void attach(uint32_t worker, const WorkerInfo& info, uint64_t epoch);
  void send(uint32_t worker, uint64_t first, uint64_t last, size_t bytes);
  void done(uint32_t worker, uint64_t seq, uint64_t waits_ms,
            std::string_view waits_for);
  void report(uint32_t worker, uint64_t seq, uint64_t status,
              std::string_view text);
  void lost(uint32_t worker, uint64_t seq, std::string_view why);
  void bye(uint32_t worker, uint64_t seq, uint64_t status);
  void end(Exit status);

 private:
  void add(uint64_t seq, std::string_view event, uint32_t worker,
           uint64_t bytes, const LogComment& comment);

  LogRows rows_;
  bool is_on_ = false;
  LogTime now_ = LogTime::now();
  uint64_t last_ = 0;           // issued
  std::vector<uint64_t> done_;  // by worker: what its last row said
  std::string peers_;           // of the last row that went to several
  std::vector<uint32_t> peers_of_;
};

}  // namespace gt
