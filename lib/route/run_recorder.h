// The log of a run, gt-log(5): what was dispatched to whom, and what came of
// it. Without a descriptor it costs a test a row.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "net/host_state.h"
#include "net/ran.h"
#include "net/roster.h"
#include "route/sequencer.h"
#include "stream/log_rows.h"

namespace gt::route {

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
  void attach(uint32_t worker, const net::WorkerInfo& info, uint64_t epoch);
  void send(uint32_t worker, uint64_t first, uint64_t last, size_t bytes,
            net::Verb verb);
  // What its `done` said.
  void done(uint32_t worker, const net::WorkerStatus& status);
  // A `ran` of its. Error: it is none.
  Status ran(uint32_t worker, const net::Message& message);
  // A result line left; UINT32_MAX: it is of no worker.
  void result(uint32_t worker, uint64_t seq, std::string_view line);
  // gt-route itself reads no more since so many ms: a worker has no room, or
  // kNoWorker: results are not read.
  void full(uint32_t worker, int64_t since_ms);
  void report(uint32_t worker, uint64_t seq, uint64_t status,
              std::string_view text);
  void lost(uint32_t worker, uint64_t seq, std::string_view why);
  void bye(uint32_t worker, uint64_t seq, uint64_t status);
  void end(Exit status);

 private:
  // Instructions that go by clients, for rows that are about them.
  static constexpr size_t kMaxTurns = size_t{1} << 16;

  struct Worker {
    uint64_t done = 0;  // what its last row said
    uint64_t sent = 0;
    uint64_t told = 0;  // when it was, in microseconds
    net::ClockOffset clock;
  };
  // The instructions of one client, from `first` on.
  struct Turn {
    uint64_t first = 0;
    std::string client;
  };

  Worker& worker_of(uint32_t worker);
  void add(uint64_t seq, std::string_view event, uint32_t worker,
           uint64_t bytes, const LogComment& comment,
           std::string_view client = "-");
  void add_ran(uint32_t worker, const net::RanRow& row, int64_t offset);
  void note_client(uint64_t seq, std::string_view client);
  std::string_view client_at(uint64_t seq) const;

  LogRows rows_;
  bool is_on_ = false;
  LogTime now_ = LogTime::now();
  uint64_t last_ = 0;  // issued
  std::vector<Worker> workers_;
  std::deque<Turn> turns_;
  std::string peers_ = "-";  // as the log spells peers_of_
  std::vector<uint32_t> peers_of_;
};

}  // namespace gt::route
