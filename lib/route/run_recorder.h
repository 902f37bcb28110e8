// RunRecorder: writes the log of a run (gt-route --log, gt-log(5)): what was
// dispatched to which worker, and what came of it. Each event is a row, with a
// time and the seq of the instruction that it is about:
//
//     attach    a worker is there            wait      a worker, or gt-route,
//     issue     an instruction was numbered            waits
//     comment   a comment came, or gt-route  result    a result line left
//               inserted a line that is no   report    a failure was reported
//               part of the program          lost      a worker is lost
//     send      a message left               bye       a worker left
//                                            end       the run is over
//     progress  a worker has finished up to here, in the middle of a message
//     done      a message's lines, or an exchange between workers, have run
//     transfer  a value came to a worker from another one
//
// issue() writes issue and comment, done() progress and wait, ran() done and
// transfer, full() wait; the other functions are named after their rows. If
// there is no descriptor, nothing is written, at the cost of a test in each
// call.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/aside.h"
#include "base/exit.h"
#include "net/host_state.h"
#include "net/ran.h"
#include "net/roster.h"
#include "route/sequencer.h"
#include "stream/log_rows.h"

namespace gt::route {

class RunRecorder {
 public:
  RunRecorder() : RunRecorder(-1) {}
  // Writes to that descriptor, which stays open; -1: nothing is written.
  explicit RunRecorder(int fd);

  bool is_on() const { return is_on_; }
  // The following rows get the present time. To be called once in a round of
  // the loop, so that everything received together has the same time.
  void tick() {
    if (is_on_) now_ = LogTime::now();
  }
  void flush() { rows_.flush(); }
  // True while more rows wait for the disk than are kept: no more of the
  // program should be read. The loop itself never waits for the disk.
  bool is_full() const { return aside_ && aside_->waiting() > kMostWaiting; }
  // Returns the errno of the first row that could not be written; 0 if all
  // were. To be called after end().
  int errno_value() const { return aside_ ? aside_->errno_value() : 0; }

  void issue(const Issue& issue);
  void attach(uint32_t worker, const net::WorkerInfo& info, uint64_t epoch);
  // A message with lines left for the worker. It has the seqs `first` to
  // `last`, and `bytes` bytes on the wire.
  void send(uint32_t worker, uint64_t first, uint64_t last, size_t bytes,
            net::Verb verb);
  // A worker's message `done` came, which says how far it is and what it waits
  // for.
  void done(uint32_t worker, const net::WorkerStatus& status);
  // A worker's message `ran` came, which says what ran when. Error: it is
  // malformed; the worker is then lost (worker_pool.h).
  Status ran(uint32_t worker, const net::Message& message);
  // A result line, with its newline, left for the client. The worker is
  // UINT32_MAX if the line came from none. To be called only if is_on().
  void result(uint32_t worker, uint64_t seq, std::string_view line);
  // gt-route has read no more of the program for that many milliseconds, since
  // the worker has no room, or since results are not read if it is kNoWorker.
  // To be called only if is_on().
  void full(uint32_t worker, int64_t since_ms);
  // In the following functions `seq` is the line up to which the worker has
  // finished, or the one that a report is about; `status` is an exit status.
  void report(uint32_t worker, uint64_t seq, uint64_t status,
              std::string_view text);
  void lost(uint32_t worker, uint64_t seq, std::string_view why);
  void bye(uint32_t worker, uint64_t seq, uint64_t status);
  // Writes the last row, and waits until all are written.
  void end(Exit status);

 private:
  static constexpr size_t kMostWaiting = size_t{16} << 20;
  // How many turns are kept, in order to find the client of a seq.
  static constexpr size_t kMaxTurns = size_t{1} << 16;

  struct Worker {
    uint64_t done = 0;  // the seq of its last row `done` or `progress`
    uint64_t sent = 0;  // the last seq that was sent to it
    // When that row was written, in microseconds since 1970.
    uint64_t told = 0;
    net::ClockOffset clock;  // from the worker's clock to ours
  };
  // The instructions of one client (a name space, "c1"), from seq `first` until
  // those of another come.
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

  std::unique_ptr<Aside> aside_;
  LogRows rows_;
  bool is_on_ = false;
  LogTime now_ = LogTime::now();
  uint64_t last_ = 0;  // the last seq that was issued
  std::vector<Worker> workers_;
  std::deque<Turn> turns_;
  // The workers of the last row `issue`, and their spelling in the log.
  std::string peers_ = "-";
  std::vector<uint32_t> peers_of_;
};

}  // namespace gt::route
