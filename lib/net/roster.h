// Who works in a session: what a hello says of a worker, and the list of all
// that a welcome brings.
//
// The words of this folder: a session is one run of gt-route with its workers.
// A worker is a gt-work process (or one of many light members in a process),
// and has a number in the session, from 0. The host is gt-route's end of its
// connections (host.h), a member a worker's end of its one (member.h), and
// peers are the other workers, as one of them sees it (peers.h). The ranks of a
// program are no workers: gt-route lets a worker play any number of ranks
// (exec/decode/hosting.h). But where a worker asks for a number of its own, the
// number is called its rank here, as --rank of gt-work is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/wire.h"

namespace gt::net {

// The most that a name, host or endpoint may have, in bytes.
inline constexpr size_t kMaxName = 128;
// The most workers of a session.
inline constexpr uint32_t kMaxWorkers = 65536;

struct WorkerInfo {
  std::string name;              // as people call it; no other has it
  std::optional<uint32_t> rank;  // the worker number it wants
  std::string host;              // the name of its machine
  std::string data;              // the endpoint for its peers; may be ""
  uint64_t pid = 0;
  uint64_t threads = 0;
  std::string isa;
  std::string backend;
  std::string key;  // public, of its connection; "" without keys
};

// "worker 3 (w3 on node7, pid 4711)"
std::string describe(uint32_t worker, const WorkerInfo& info);

// The number of the worker that the words of a `done` say is waited for, "line
// 7: piece of rank 3 from worker 1"; "" if they name none.
std::string_view worker_named(std::string_view words);

void add_info(MessageWriter& hello, const WorkerInfo& info);
// Error: a field is missing or too long.
Result<WorkerInfo> read_info(const Message& hello);

struct RosterEntry {
  uint32_t worker = 0;
  std::string name;
  std::string host;
  std::string data;
  uint64_t pid = 0;
  std::string key;
};

// A welcome's body: "3 w3 node7 ipc://@gt-12ab 4711", a line each; with keys,
// the public one follows.
void append_entry(std::string& body, uint32_t worker, const WorkerInfo& info);
Result<std::vector<RosterEntry>> parse_roster(std::string_view body);

}  // namespace gt::net
