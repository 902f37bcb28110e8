// gt-log why: says, from the log of a run (gt-log(5)), which may still be
// written, what each worker is at or waits for, and for which worker all of
// them wait in the end.
//
// The log says for whom a worker waits: while it waits, there are rows of event
// `wait` with the instruction's number, since when it waits, and for whom.
// Other workers are at the first instruction that was issued to them after the
// last one that they finished. To find the worker for which all wait, the
// search starts at the worker that has stood still longest, goes to the one
// that it waits for, and so on, until one waits for no named worker. If that
// leads in a circle, the run waits for itself. Data dependencies are not looked
// at.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "log/input.h"
#include "stream/log_words.h"
#include "stream/rows.h"

namespace gt::log {

class Why {
 public:
  // Limits in nanoseconds. A worker that has work and did nothing for kStalled
  // is stalled. A log to which nothing was written for kSilent, while a worker
  // has work, is silent: the process that writes it is stopped or gone.
  static constexpr uint64_t kStalled = 1'000'000'000;
  static constexpr uint64_t kSilent = 3'000'000'000;

  // Takes any row, in the order of the log. A row of an unknown event, or
  // without a time or a number, is skipped.
  void take(const LogRow& row);

  struct Answer {
    // A line for each worker, then for whom the run waits.
    std::string text;
    bool is_stalled = false;  // a worker is stalled, or the log is silent
  };
  // `now` is in nanoseconds since 1970.
  Answer answer(uint64_t now) const;

 private:
  // An instruction that was issued, and that not all of its workers have
  // finished.
  struct Issue {
    uint64_t seq;
    std::string peers;  // the numbers of its workers, as the row has them
    std::string text;   // the beginning of its text, without notes
    std::string at;     // the place from the note #at=
  };
  // Instructions that were sent to a worker in one message.
  struct Message {
    uint64_t seq;  // the last instruction in it
    uint64_t time;
  };
  // The content of a row of event `wait`, until the instruction is done.
  struct Wait {
    uint64_t seq = 0;    // the instruction at which it waits
    uint64_t since = 0;  // 0: it does not wait
    std::string whom;    // a worker's number, or words; "" if there is no name
    std::string words;   // more words, for people
  };
  struct Worker {
    std::string name;
    uint64_t sent = 0;           // the last instruction that was sent to it
    uint64_t done = 0;           // the last instruction that it finished
    uint64_t moved = 0;          // when it last finished something
    std::deque<Message> unread;  // sent, and not yet finished
    Wait wait;
    std::string lost;  // the reason, if it was lost
    bool is_lost = false;
    bool has_left = false;
  };
  // The state of one worker, as it is reported.
  struct State {
    std::string text;
    // Since when it has stood there; 0: it has nothing to do.
    uint64_t since = 0;
    uint64_t seq = 0;  // the instruction at which it is
  };

  static constexpr size_t kMaxIssues = 1'000'000;
  static constexpr size_t kMaxWorkers = size_t{1} << 16;
  static constexpr size_t kMaxText = 72;

  Worker* worker_of(std::string_view peer);
  void take_issue(uint64_t seq, const LogRow& row);
  void take_done(uint64_t seq, uint64_t time, Worker& worker);
  void take_wait(uint64_t seq, uint64_t time, Wait& wait);
  void forget_finished();
  // Returns the first line that the worker was sent after those that it has
  // done.
  const Issue* next_of(uint64_t number, const Worker& worker) const;
  size_t behind(uint64_t number, const Worker& worker) const;
  static bool is_for(const Issue& issue, uint64_t number);
  std::string place_of(const Issue* issue, uint64_t seq) const;
  State state_of(uint64_t number, const Worker& worker, uint64_t now) const;
  std::string verdict(const std::map<uint64_t, State>& states,
                      uint64_t now) const;
  std::string dispatcher(uint64_t now) const;
  std::string title(uint64_t number) const;

  std::map<uint64_t, Worker> workers_;  // by number
  std::deque<Issue> issues_;            // by seq
  Wait full_;                           // why the dispatcher reads no more
  // The number of issues at which some are dropped.
  size_t next_sweep_ = 1024;
  uint64_t last_ = 0;  // time of the last row
  std::string ended_;  // the status of the run; "": it goes on
  LogWords words_;
};

// Reads one log ("-" is standard input), and writes the answer to `out`. `now`
// is in nanoseconds since 1970; 0 stands for this machine's clock. Status:
// kDone if something is stalled, kFailed if nothing is; kUsage if the log
// cannot be read, kRejected if it is not a log.
Exit why(const std::string& path, uint64_t now, Writer& out, const Say& say);

}  // namespace gt::log
