#include "route/state_text.h"

#include <unistd.h>

#include <map>
#include <string_view>

#include "base/process_use.h"
#include "base/version.h"
#include "net/record.h"
#include "net/used.h"
#include "stream/line.h"

namespace gt::route {
namespace {

using net::RecordWriter;

std::string_view word_of(const WorkerPool::View& worker) {
  if (worker.has_left) {
    return worker.status.state == net::WorkerState::kLeft ? "left" : "lost";
  }
  switch (worker.status.state) {
    case net::WorkerState::kAbsent:
      return "absent";
    case net::WorkerState::kAttached:
      return "here";
    case net::WorkerState::kSuspect:
      return "silent";
    case net::WorkerState::kLost:
      return "lost";
    case net::WorkerState::kLeft:
      return "left";
  }
  return "";
}

void add_route(std::string& to, const Client& client,
               const Dispatcher& dispatcher, const WorkerPool& pool,
               const StateOptions& more) {
  RecordWriter record(to, "route");
  record.field("pid", static_cast<uint64_t>(::getpid()))
      .field("version", kVersion)
      .field("uptime_ms", static_cast<uint64_t>(more.uptime_ms))
      .field("file", more.file)
      .field("workers", uint64_t{dispatcher.loads().size()})
      .field("here", uint64_t{pool.here()})
      .field("lines", client.lines)
      .field("repeated", client.repeated)
      .field("decoded", dispatcher.decoded())
      .field("issued", dispatcher.issued())
      .field("written", more.written)
      .field("owed", client.users.bytes())
      .field("watchers", uint64_t{more.watchers})
      .field("status", static_cast<uint64_t>(client.status))
      .field("ended", uint64_t{more.has_ended});
  const ProcessUse process = process_use();
  record.field("cpu", process.cpu_ns).field("resident", process.resident);
  if (!more.full || more.full_ms == 0) return;
  record.field("full_ms", static_cast<uint64_t>(more.full_ms));
  if (*more.full != net::kNoWorker) record.field("full", uint64_t{*more.full});
}

void add_worker(std::string& to, uint32_t number, const Dispatcher& dispatcher,
                const WorkerPool::View& worker) {
  const net::WorkerStatus& status = worker.status;
  RecordWriter record(to, "worker");
  record.field("id", uint64_t{number})
      .field("state", word_of(worker))
      .field("name", status.info.name)
      .field("host", status.info.host)
      .field("pid", status.info.pid)
      .field("threads", status.info.threads)
      .field("isa", status.info.isa)
      .field("backend", status.info.backend)
      .field("epoch", status.epoch)
      .field("done", status.done_seq)
      .field("behind", worker.behind)
      .field("queued", worker.queued)
      .field("queued_ns", dispatcher.loads().outstanding(number))
      .field("text", status.sent)
      .field("results", worker.results)
      .field("owes", uint64_t{worker.owes});
  if (worker.at) {
    record.field("at", worker.at->place);
    record.field("line", split_notes(worker.at->text).text);
    record.field("line_done", uint64_t{worker.at->is_done});
  }
  if (status.waits_for.empty()) return;
  record.field("waits_ms", status.waits_ms);
  record.field("waits_for", status.waits_for);
  record.field("waits_on", net::worker_named(status.waits_for));
}

void add_ops(std::string& to, const Dispatcher& dispatcher,
             const WorkerPool& pool) {
  std::map<std::string_view, net::OpUsed> sums;
  for (uint32_t w = 0; w < dispatcher.loads().size(); ++w) {
    for (const net::OpUsed& op : pool.used(w).ops) {
      net::OpUsed& sum = sums[op.op];
      sum.count += op.count;
      sum.ns += op.ns;
    }
  }
  for (const auto& [name, sum] : sums) {
    net::append_op(to, {std::string(name), sum.count, sum.ns});
  }
}

}  // namespace

std::string state_text(const Client& client, const Dispatcher& dispatcher,
                       const WorkerPool& pool, const StateOptions& more) {
  std::string out;
  add_route(out, client, dispatcher, pool, more);
  const auto workers = static_cast<uint32_t>(dispatcher.loads().size());
  size_t ops = 0;
  for (uint32_t w = 0; w < workers; ++w) {
    const WorkerPool::View worker = pool.view(w);
    add_worker(out, w, dispatcher, worker);
    ops += pool.used(w).ops.size();
  }
  for (uint32_t w = 0; w < workers; ++w) {
    const net::Used& used = pool.used(w);
    if (used.time != 0) net::append_use(out, used, w);
    if (ops > StateOptions::kMostOps) continue;
    for (const net::OpUsed& op : used.ops) net::append_op(out, op, w);
  }
  if (ops > StateOptions::kMostOps) add_ops(out, dispatcher, pool);
  const Users& users = client.users;
  users.each([&](std::string_view space, UserId user) {
    RecordWriter record(out, "space");
    record.field("name", space).field("lines", users.lines(user));
    record.field("owed", users.results(user).bytes());
  });
  client.told_of.append(out);
  return out;
}

}  // namespace gt::route
