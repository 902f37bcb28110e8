// gt-log why: from the log of a run (gt-log(5)), perhaps still being written,
// what each worker is at, and whom all wait for in the end.
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
  // Nanoseconds: a worker that has work and did nothing for longer is stalled,
  // and a log that nobody wrote to for longer than that is not being written.
  static constexpr uint64_t kStalled = 1'000'000'000;
  static constexpr uint64_t kSilent = 3'000'000'000;

  void take(const LogRow& row);

  struct Answer {
    std::string text;         // a line a worker, then whom the run waits for
    bool is_stalled = false;  // somebody is, or the log is silent
  };
  // `now`: nanoseconds since 1970.
  Answer answer(uint64_t now) const;

 private:
  // Issued and not yet finished by all who got it.
  struct Issue {
    uint64_t seq;
    std::string peers;  // as the row has it
    std::string text;   // its beginning, without notes
    std::string at;     // of the note #at=
  };
  struct Message {
    uint64_t seq;  // the last that it holds
    uint64_t time;
  };
  struct Wait {
    uint64_t seq = 0;
    uint64_t since = 0;
    std::string whom;  // "" if nobody is named
    std::string words;
  };
  struct Worker {
    std::string name;
    uint64_t sent = 0;  // up to which seq
    uint64_t done = 0;
    uint64_t moved = 0;          // when it last finished something
    std::deque<Message> unread;  // sent, and not yet finished
    Wait wait;                   // since == 0: it does not
    std::string lost;
    bool is_lost = false;
    bool has_left = false;
  };
  // What is said of one worker.
  struct State {
    std::string text;
    uint64_t since = 0;  // it stands there; 0: it does not
    uint64_t seq = 0;
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
  Wait full_;                           // the dispatcher reads no more
  size_t next_sweep_ = 1024;            // so many issues, and some are dropped
  uint64_t last_ = 0;                   // time of the last row
  std::string ended_;                   // status of the run; "": it goes on
  LogWords words_;
};

// Reads one log, "-" is standard input, and says why on `out`. Status: 0
// something is stalled, 1 nothing is; 2 and 3 as for other reports. `now` of 0
// is this machine's clock.
Exit why(const std::string& path, uint64_t now, Writer& out, const Say& say);

}  // namespace gt::log
