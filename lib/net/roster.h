// The workers of a session: what a hello says about a worker, and the list of
// all workers in a welcome.
//
// The terms of this folder: a session is one run of gt-route with its workers.
// A worker is a gt-work process,
// and has a number in the session, from 0. The host is gt-route's end of its
// connections (host.h), a member is a worker's end of its one connection
// (member.h), and peers are the other workers, as one of them sees them
// (peers.h). The ranks of a program are not workers: gt-route lets a worker
// play any number of ranks (exec/decode/hosting.h). But if a worker asks for a
// certain worker number, that number is called its rank here, after the option
// --rank of gt-work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/wire.h"

namespace gt::net {

// The most bytes of a name, host or endpoint.
inline constexpr size_t kMaxName = 128;
// The most workers of a session.
inline constexpr uint32_t kMaxWorkers = 65536;

// What a hello says about a worker.
struct WorkerInfo {
  std::string name;              // for people; unique in the session
  std::optional<uint32_t> rank;  // the worker number it asks for
  std::string host;              // the name of its machine
  std::string data;              // its endpoint for peers; may be ""
  uint64_t pid = 0;
  uint64_t threads = 0;
  std::string isa;
  std::string backend;
  std::string key;  // public key of its connection; "" without keys
};

// Returns "worker 3 (w3 on node7, pid 4711)".
std::string describe(uint32_t worker, const WorkerInfo& info);

// Returns the number of the worker that is waited for, from the words of a
// `done` such as "line 7: piece of rank 3 from worker 1"; "" if they name none.
std::string_view worker_named(std::string_view words);

void add_info(MessageWriter& hello, const WorkerInfo& info);
// Error: a field is missing or too long.
Result<WorkerInfo> read_info(const Message& hello);

// What a welcome says about one of the workers.
struct RosterEntry {
  uint32_t worker = 0;
  std::string name;
  std::string host;
  std::string data;
  uint64_t pid = 0;
  std::string key;
};

// Write and parse the body of a welcome, with a line "3 w3 node7 ipc://@gt-12ab
// 4711" for each worker; with keys, the public key follows.
void append_entry(std::string& body, uint32_t worker, const WorkerInfo& info);
Result<std::vector<RosterEntry>> parse_roster(std::string_view body);

}  // namespace gt::net
