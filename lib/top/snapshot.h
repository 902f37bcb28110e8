// Snapshot: the state of a run at one moment, as gt-route reports it
// (route/state_text.h). Counters count from the beginning of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/used.h"

namespace gt::top {

inline constexpr double kNano = 1e-9;  // seconds

// What a worker waits for: another worker, or something that only words
// describe.
struct Wait {
  uint64_t ms = 0;
  std::string words;  // "line 7: piece of rank 3 from worker 1"; "": none
  // The number of the other worker.
  std::optional<uint64_t> on;
};

struct WorkerNow {
  uint64_t id = 0;
  std::string state;  // absent, here, silent, lost or left
  std::string name, host, isa, backend;
  uint64_t pid = 0;
  uint64_t threads = 0;
  uint64_t epoch = 0;  // the number of workers that have had this number
  // Instructions for all workers that it has not finished.
  uint64_t behind = 0;
  uint64_t queued = 0;     // bytes of the text that it has not finished
  uint64_t queued_ns = 0;  // the estimated cost of that, in nanoseconds
  uint64_t text = 0;       // bytes of instructions that were sent to it
  uint64_t results = 0;    // bytes of results that came from it
  std::string at, line;    // the place of its line, "p.gt:7", and the line
  bool is_line_done = false;
  Wait wait;
  std::optional<net::Used> used;  // set once it has reported
};

// A name space of users, or a client of gt-emit -l.
struct ClientNow {
  std::string id;     // "c7"
  std::string state;  // state of a client
  std::string user;   // the client's user
  uint64_t lines = 0;
  uint64_t owed = 0;  // bytes of results
  // The following members are for a client of gt-emit -l, if `is_told`.
  bool is_told = false;
  uint64_t blocks = 0;     // blocks of lines under way
  uint64_t queued_ns = 0;  // their estimated cost, in nanoseconds
  uint64_t served_ns = 0;  // the estimated cost of everything that it was given
  bool waits = false;      // a block of it waits to go out
  uint64_t memory = 0;
  uint64_t quota = 0;  // limit of memory in bytes; 0: there is none
  uint64_t unread = 0;
  double share = 0;  // its share of the work
};

struct RouteNow {
  uint64_t pid = 0;
  std::string version, file;
  uint64_t uptime_ms = 0;
  uint64_t workers = 0;
  uint64_t here = 0;
  uint64_t lines = 0;
  uint64_t repeated = 0;
  uint64_t decoded = 0;
  uint64_t issued = 0;
  uint64_t written = 0;  // bytes of results
  uint64_t owed = 0;
  uint64_t watchers = 0;
  uint64_t status = 0;
  uint64_t cpu = 0;        // nanoseconds of its process on all cores
  uint64_t resident = 0;   // bytes of its process; 0: not told
  bool has_ended = false;  // its input has ended
  uint64_t full_ms = 0;    // for how long it has read no more
  // The worker that has no room, if that is the reason.
  std::optional<uint64_t> full;
};

struct Snapshot {
  RouteNow route;
  std::vector<WorkerNow> workers;  // by number
  std::vector<net::OpUsed> ops;    // summed over all workers
  std::vector<ClientNow> clients;
};

// Reads records; those of unknown kinds are skipped. Error: a line is no
// record, or lacks a field that it must have, or there is no `route`. The text
// may have any bytes.
Result<Snapshot> read_snapshot(std::string_view text);

// True if the worker is here and has waited for so long that it is worth
// showing.
bool is_waiting(const WorkerNow& worker);

// Says which worker waits longest, in the words of gt-log why: "worker 3 (w3)
// waits 1.2 s for worker 1 (w1) at p.gt:7: y = all_reduce x"; "" if none waits.
std::string longest_wait(const Snapshot& now);

}  // namespace gt::top
