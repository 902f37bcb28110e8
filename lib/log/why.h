// gt-log why: from the log of a run (gt-log(5)), which may still be written,
// what each worker is at or waits for, and for whom all of them wait in the
// end.
//
// The log says whom a worker waits for: while one waits, there are rows of
// event `wait` with the instruction's number, since when, and for whom. The
// others are at the first instruction that was issued to them after the last
// that they finished. The one for whom all wait is found from the worker that
// has stood still longest, by going to the one it waits for, and from that one
// on, until one waits for nobody named; if that leads round, the run waits for
// itself. Dependencies of data are not looked at.
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
  // In nanoseconds. A worker that has work and did nothing for kStalled is
  // stalled; a log to which nothing was written for kSilent, while a worker has
  // work, is silent: whoever writes it is stopped or gone.
  static constexpr uint64_t kStalled = 1'000'000'000;
  static constexpr uint64_t kSilent = 3'000'000'000;

  // Takes any row, in the order of the log. One of an event that is not known,
  // or without a time or a number, is passed over.
  void take(const LogRow& row);

  struct Answer {
    std::string text;         // a line a worker, then whom the run waits for
    bool is_stalled = false;  // somebody is, or the log is silent
  };
  // `now`: nanoseconds since 1970.
  Answer answer(uint64_t now) const;

 private:
  // An instruction that was issued, and that not all who got it have finished.
  struct Issue {
    uint64_t seq;
    std::string peers;  // the numbers of those who got it, as the row says
    std::string text;   // its beginning, without notes
    std::string at;     // of the note #at=
  };
  // Instructions that were sent to a worker at once.
  struct Message {
    uint64_t seq;  // the last instruction that it holds
    uint64_t time;
  };
  // What a row of event `wait` said, until the instruction is done.
  struct Wait {
    uint64_t seq = 0;    // the instruction at which it waits
    uint64_t since = 0;  // 0: it does not wait
    std::string whom;    // a worker's number or words; "" if nobody is named
    std::string words;   // more, for people
  };
  struct Worker {
    std::string name;
    uint64_t sent = 0;           // the last instruction that was sent to it,
    uint64_t done = 0;           // and that it finished
    uint64_t moved = 0;          // when it last finished something
    std::deque<Message> unread;  // sent, and not yet finished
    Wait wait;
    std::string lost;  // why, if it was lost
    bool is_lost = false;
    bool has_left = false;
  };
  // What is said of one worker.
  struct State {
    std::string text;
    uint64_t since = 0;  // when it came to stand there; 0: it has nothing to do
    uint64_t seq = 0;    // the instruction at which it is
  };

  static constexpr size_t kMaxIssues = 1'000'000;
  static constexpr size_t kMaxWorkers = size_t{1} << 16;
  static constexpr size_t kMaxText = 72;

  Worker* worker_of(std::string_view peer);
  void take_issue(uint64_t seq, const LogRow& row);
  void take_done(uint64_t seq, uint64_t time, Worker& worker);
  void take_wait(uint64_t seq, uint64_t time, Wait& wait);
  void forget_finished();
  // The first line that the worker got after what it has done.
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
  size_t next_sweep_ = 1024;            // at so many issues some are dropped
  uint64_t last_ = 0;                   // time of the last row
  std::string ended_;                   // status of the run; "": it goes on
  LogWords words_;
};

// Reads one log, "-" is standard input, and writes the answer to `out`. `now`
// is in nanoseconds since 1970; 0: this machine's clock. Status: kDone if
// something is stalled, kFailed if nothing is; kUsage if the log cannot be
// read, kRejected if it is none.
Exit why(const std::string& path, uint64_t now, Writer& out, const Say& say);

}  // namespace gt::log
