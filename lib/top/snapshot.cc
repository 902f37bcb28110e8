#include "top/snapshot.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "net/record.h"
#include "net/wire.h"

namespace gt::top {
namespace {

using net::Record;

std::optional<uint64_t> number_if(const Record& record, std::string_view key) {
  const auto value = record.need(key);
  return value.ok() ? std::optional(value.value()) : std::nullopt;
}

RouteNow read_route(const Record& record) {
  RouteNow now;
  now.pid = record.number("pid");
  now.version = record.text("version");
  now.file = record.text("file");
  now.uptime_ms = record.number("uptime_ms");
  now.workers = record.number("workers");
  now.here = record.number("here");
  now.lines = record.number("lines");
  now.repeated = record.number("repeated");
  now.decoded = record.number("decoded");
  now.issued = record.number("issued");
  now.written = record.number("written");
  now.owed = record.number("owed");
  now.watchers = record.number("watchers");
  now.status = record.number("status");
  now.cpu = record.number("cpu");
  now.resident = record.number("resident");
  now.has_ended = record.number("ended") == 1;
  now.full_ms = record.number("full_ms");
  now.full = number_if(record, "full");
  return now;
}

WorkerNow read_worker(const Record& record, uint64_t id) {
  WorkerNow now;
  now.id = id;
  now.state = record.text("state");
  now.name = record.text("name");
  now.host = record.text("host");
  now.isa = record.text("isa");
  now.backend = record.text("backend");
  now.pid = record.number("pid");
  now.threads = record.number("threads");
  now.epoch = record.number("epoch");
  now.behind = record.number("behind");
  now.queued = record.number("queued");
  now.queued_ns = record.number("queued_ns");
  now.text = record.number("text");
  now.results = record.number("results");
  now.at = record.text("at");
  now.line = record.text("line");
  now.is_line_done = record.number("line_done") == 1;
  now.wait = {record.number("waits_ms"), record.text("waits_for"),
              number_if(record, "waits_on")};
  return now;
}

void read_client(const Record& record, ClientNow& now) {
  now.is_told = true;
  now.state = record.text("state");
  now.user = record.text("user");
  now.blocks = record.number("blocks");
  now.queued_ns = record.number("queued_ns");
  now.served_ns = record.number("served_ns");
  now.waits = record.number("waits") == 1;
  now.memory = record.number("memory");
  now.quota = record.number("quota");
  now.unread = record.number("unread");
  double share = 0;
  if (read_number(record.text("share"), share) && share > 0 && share < 1e9) {
    now.share = share;
  }
}

// Reads the records of a state into a snapshot.
class SnapshotReader {
 public:
  Status take(const Record& record);
  Result<Snapshot> finish();

 private:
  WorkerNow& worker(uint64_t id);
  Status take_used(const Record& record);
  ClientNow& client(const Record& record);

  Snapshot out_;
  bool has_route_ = false;
  std::map<uint64_t, WorkerNow> workers_;
  std::map<std::string, ClientNow> clients_;
  net::Used sums_;  // ops that gt-route has summed
};

WorkerNow& SnapshotReader::worker(uint64_t id) {
  WorkerNow& at = workers_[id];
  at.id = id;
  return at;
}

Status SnapshotReader::take(const Record& record) {
  if (record.kind == "route") {
    has_route_ = true;
    out_.route = read_route(record);
  } else if (record.kind == "worker") {
    const auto id = record.need("id");
    if (!id.ok()) return id.error();
    auto used = std::move(worker(id.value()).used);
    workers_[id.value()] = read_worker(record, id.value());
    workers_[id.value()].used = std::move(used);
  } else if (record.kind == "use" || record.kind == "op") {
    return take_used(record);
  } else if (record.kind == "space") {
    ClientNow& now = client(record);
    now.lines = record.number("lines");
    now.owed = record.number("owed");
  } else if (record.kind == "client") {
    read_client(record, client(record));
  }
  return ok_status();
}

ClientNow& SnapshotReader::client(const Record& record) {
  const std::string id = record.text("name");
  ClientNow& now = clients_[id];
  now.id = id;
  return now;
}

Status SnapshotReader::take_used(const Record& record) {
  const auto id = number_if(record, "worker");
  if (!id) return net::take_used(record, sums_);
  WorkerNow& of = worker(*id);
  if (!of.used) of.used.emplace();
  return net::take_used(record, *of.used);
}

Result<Snapshot> SnapshotReader::finish() {
  if (!has_route_) return Error{"no record of gt-route"};
  std::map<std::string, net::OpUsed> ops;
  const auto add = [&ops](const net::OpUsed& op) {
    net::OpUsed& sum = ops[op.op];
    sum.op = op.op;
    sum.count += op.count;
    sum.ns += op.ns;
  };
  for (const net::OpUsed& op : sums_.ops) add(op);
  for (auto& [id, worker] : workers_) {
    if (worker.used) std::ranges::for_each(worker.used->ops, add);
    out_.workers.push_back(std::move(worker));
  }
  for (auto& [name, op] : ops) out_.ops.push_back(std::move(op));
  for (auto& [id, client] : clients_) out_.clients.push_back(std::move(client));
  return std::move(out_);
}

}  // namespace

Result<Snapshot> read_snapshot(std::string_view text) {
  SnapshotReader reader;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto record = net::parse_record(line);
    if (!record.ok()) return record.error();
    if (Status s = reader.take(record.value()); !s.ok()) return s.error();
  }
  return reader.finish();
}

// ---- who waits --------------------------------------------------------------

namespace {

const WorkerNow* find_worker(const Snapshot& now, uint64_t id) {
  const auto found = std::ranges::find(now.workers, id, &WorkerNow::id);
  return found == now.workers.end() ? nullptr : &*found;
}

std::string title(const Snapshot& now, uint64_t id) {
  const WorkerNow* worker = find_worker(now, id);
  std::string out = "worker " + std::to_string(id);
  if (worker != nullptr && !worker->name.empty()) {
    out += " (" + worker->name + ")";
  }
  return out;
}

std::string place(const WorkerNow& worker) {
  return worker.at.empty() ? "" : " at " + worker.at + ": " + worker.line;
}

// Follows from `worker` on who waits for whom, and returns the worker that
// waits for none; null if they wait for each other.
const WorkerNow* last_of(const Snapshot& now, const WorkerNow* worker) {
  std::set<uint64_t> seen;
  while (worker != nullptr && worker->wait.on && !worker->wait.words.empty()) {
    if (!seen.insert(worker->id).second) return nullptr;
    worker = find_worker(now, *worker->wait.on);
  }
  return worker;
}

}  // namespace

bool is_waiting(const WorkerNow& worker) {
  constexpr uint64_t kWorthAWord = 100;  // milliseconds
  return worker.state == "here" && !worker.wait.words.empty() &&
         worker.wait.ms >= kWorthAWord;
}

std::string longest_wait(const Snapshot& now) {
  const WorkerNow* worker = nullptr;
  for (const WorkerNow& one : now.workers) {
    if (!is_waiting(one)) continue;
    if (worker == nullptr || one.wait.ms > worker->wait.ms) worker = &one;
  }
  const auto lasts = static_cast<int64_t>(worker == nullptr ? now.route.full_ms
                                                            : worker->wait.ms);
  if (worker == nullptr) {
    if (now.route.full_ms == 0) return "";
    return "gt-route reads no more for " + seconds_text(lasts) + ", since " +
           (now.route.full ? title(now, *now.route.full) + " has no room"
                           : "its results are not read");
  }
  const Wait& wait = worker->wait;
  std::string out = title(now, worker->id) + " waits " + seconds_text(lasts) +
                    " for " + (wait.on ? title(now, *wait.on) : wait.words) +
                    place(*worker);
  if (!wait.on) return out;
  out += " (" + wait.words + ")";
  const WorkerNow* last = last_of(now, worker);
  if (last == nullptr) return out + "; they wait for each other";
  return out + "; " + title(now, last->id) +
         (last->state == "here" ? " is" : " is " + last->state) + place(*last);
}

}  // namespace gt::top
