// How a run is at one moment, as gt-route tells it (route/state_text.h). What
// counts, counts from the beginning of the run.
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

// A worker that lacks something waits for another, or for words.
struct Wait {
  uint64_t ms = 0;
  std::string words;  // "line 7: piece of rank 3 from worker 1"; "": none
  std::optional<uint64_t> on;
};

struct WorkerNow {
  uint64_t id = 0;
  std::string state;  // absent, here, silent, lost or left
  std::string name, host, isa, backend;
  uint64_t pid = 0;
  uint64_t threads = 0;
  uint64_t epoch = 0;      // how many workers have had this number
  uint64_t behind = 0;     // instructions of all that it has not finished
  uint64_t queued = 0;     // bytes of their text
  uint64_t queued_ns = 0;  // what they cost, roughly
  uint64_t text = 0;       // bytes of instructions that went to it
  uint64_t results = 0;    // bytes of results that came
  std::string at, line;    // where it is: "p.gt:7", and the line
  bool is_line_done = false;
  Wait wait;
  std::optional<net::Used> used;  // once it has told
};

// A name space of users, or a client of gt-emit -l.
struct ClientNow {
  std::string id;     // "c7"
  std::string state;  // of a client
  std::string user;   // of a client, who it says to be
  uint64_t lines = 0;
  uint64_t owed = 0;  // bytes of results
  // Of a client of gt-emit -l, if `is_told`:
  bool is_told = false;
  uint64_t blocks = 0;     // of lines, under way
  uint64_t queued_ns = 0;  // what they cost, roughly
  uint64_t served_ns = 0;  // the same of all that it was given
  bool waits = false;      // more of it is to go out
  uint64_t memory = 0;
  uint64_t quota = 0;  // of memory, in bytes; 0: none
  uint64_t unread = 0;
  double share = 0;  // of the work, in shares
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
  bool has_ended = false;        // its input has
  uint64_t full_ms = 0;          // it reads no more for so long, ...
  std::optional<uint64_t> full;  // ... since that worker has no room
};

struct Snapshot {
  RouteNow route;
  std::vector<WorkerNow> workers;  // by number
  std::vector<net::OpUsed> ops;    // of all workers
  std::vector<ClientNow> clients;
};

// Reads records; those of kinds that are not known are passed over. Error: a
// line is no record, or lacks what it must have, or there is no `route`. Takes
// any bytes.
Result<Snapshot> read_snapshot(std::string_view text);

// Whether it is here and has waited for so long that it is worth a word.
bool is_waiting(const WorkerNow& worker);

// For whom the run waits longest, as gt-log why words it: "worker 3 (w3) waits
// 1.2 s for worker 1 (w1) at p.gt:7: y = all_reduce x"; "" if nobody waits.
std::string longest_wait(const Snapshot& now);

}  // namespace gt::top
