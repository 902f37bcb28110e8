#include "top/metrics.h"

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <vector>

#include "base/printable.h"

namespace gt::top {
namespace {

// Returns a label's value, without its quotes.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : printable(value)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

// One family of samples: its head, then each sample.
class Family {
 public:
  Family(std::string& to, std::string_view name, std::string_view type,
         std::string_view help)
      : to_(to), name_(name) {
    fmt::format_to(std::back_inserter(to_), "# HELP {} {}\n# TYPE {} {}\n",
                   name, help, name, type);
  }
  // `labels` is "" or, for example, "worker=\"3\"".
  void add(std::string_view labels, double value) {
    fmt::format_to(std::back_inserter(to_), "{}{}{}{} {}\n", name_,
                   labels.empty() ? "" : "{", labels, labels.empty() ? "" : "}",
                   value);
  }

 private:
  std::string& to_;
  std::string_view name_;
};

std::string label(const WorkerNow& worker) {
  return fmt::format("worker=\"{}\"", worker.id);
}

struct WorkerFamily {
  const char* name;
  const char* type;
  const char* help;
  double scale;
  uint64_t (*value)(const WorkerNow&);
  bool needs_used;  // it is known once the worker has reported what it used
};

template <uint64_t net::Used::*kField>
uint64_t used(const WorkerNow& worker) {
  return *worker.used.*kField;
}
template <uint64_t WorkerNow::*kField>
uint64_t of(const WorkerNow& worker) {
  return worker.*kField;
}

constexpr WorkerFamily kWorkerFamilies[] = {
    {"gt_worker_up", "gauge", "Whether the worker is attached and heard of.", 1,
     [](const WorkerNow& w) { return uint64_t{w.state == "here"}; }, false},
    {"gt_worker_epoch", "gauge", "How many workers have had this number.", 1,
     of<&WorkerNow::epoch>, false},
    {"gt_worker_queue_instructions", "gauge",
     "Instructions up to the last for this worker that it has not finished.", 1,
     of<&WorkerNow::behind>, false},
    {"gt_worker_queue_bytes", "gauge",
     "Text of instructions that the worker has not finished.", 1,
     of<&WorkerNow::queued>, false},
    {"gt_worker_queue_seconds", "gauge",
     "Estimated work that the worker has not finished.", kNano,
     of<&WorkerNow::queued_ns>, false},
    {"gt_worker_waiting_seconds", "gauge",
     "For how long the worker has waited for another, now.", 1e-3,
     [](const WorkerNow& w) { return w.wait.ms; }, false},
    {"gt_worker_text_bytes_total", "counter",
     "Text of instructions that was sent to the worker.", 1,
     of<&WorkerNow::text>, false},
    {"gt_worker_result_bytes_total", "counter",
     "Results that came from the worker.", 1, of<&WorkerNow::results>, false},
    {"gt_worker_compute_seconds_total", "counter",
     "Time in which the worker's compute ran.", kNano, used<&net::Used::busy>,
     true},
    {"gt_worker_wait_seconds_total", "counter",
     "Time in which compute waited for other workers.", kNano,
     used<&net::Used::waited>, true},
    {"gt_worker_exchange_seconds_total", "counter",
     "Time that exchanges with other workers took.", kNano,
     used<&net::Used::exchanging>, true},
    {"gt_worker_exchanges_total", "counter",
     "Exchanges with other workers that have ended.", 1,
     used<&net::Used::exchanges>, true},
    {"gt_worker_instructions_total", "counter",
     "Instructions that the worker was given and has decoded.", 1,
     used<&net::Used::lines>, true},
    {"gt_worker_memory_bytes", "gauge", "Memory that values take.", 1,
     used<&net::Used::memory>, true},
    {"gt_worker_memory_peak_bytes", "gauge", "The most that they took.", 1,
     used<&net::Used::peak>, true},
    {"gt_worker_cpu_seconds_total", "counter",
     "Time of the worker's process on all cores.", kNano, used<&net::Used::cpu>,
     true},
    {"gt_worker_resident_bytes", "gauge", "Memory of the worker's process.", 1,
     used<&net::Used::resident>, true},
    {"gt_worker_received_bytes_total", "counter",
     "Bytes of values that were read of other workers.", 1,
     used<&net::Used::in>, true},
    {"gt_worker_sent_bytes_total", "counter",
     "Bytes of values that other workers read of this one.", 1,
     used<&net::Used::out>, true},
};

void add_route(std::string& to, const RouteNow& route, bool has_ended) {
  struct One {
    const char* name;
    const char* type;
    const char* help;
    double value;
  };
  const auto real = [](uint64_t value) { return static_cast<double>(value); };
  const One all[] = {
      {"gt_up", "gauge", "Whether gt-route runs.", has_ended ? 0.0 : 1.0},
      {"gt_uptime_seconds", "gauge", "How long gt-route has run.",
       real(route.uptime_ms) / 1000},
      {"gt_workers_expected", "gauge", "Workers that the run has.",
       real(route.workers)},
      {"gt_workers_here", "gauge", "Workers that are attached.",
       real(route.here)},
      {"gt_instructions_total", "counter", "Instructions that came.",
       real(route.lines)},
      {"gt_instructions_repeated_total", "counter",
       "Of them those that came in recognised rounds of a loop.",
       real(route.repeated)},
      {"gt_instructions_decoded_total", "counter",
       "Lines that were decoded, since they were not known.",
       real(route.decoded)},
      {"gt_instructions_issued_total", "counter",
       "Instructions that were issued, inserted ones included.",
       real(route.issued)},
      {"gt_result_bytes_total", "counter", "Results that were written.",
       real(route.written)},
      {"gt_result_owed_bytes", "gauge", "Results that are owed or unread.",
       real(route.owed)},
      {"gt_blocked_seconds", "gauge",
       "For how long gt-route has read nothing for lack of room, now.",
       real(route.full_ms) / 1000},
      {"gt_watchers", "gauge", "Those who watch the run.",
       real(route.watchers)},
      {"gt_status", "gauge", "The largest exit status so far.",
       real(route.status)}};
  for (const One& one : all) {
    Family(to, one.name, one.type, one.help).add("", one.value);
  }
  Family(to, "gt_build_info", "gauge", "The version of gt-route.")
      .add("version=\"" + escaped(route.version) + "\"", 1);
}

void add_workers(std::string& to, const Snapshot& now) {
  for (const WorkerFamily& one : kWorkerFamilies) {
    Family family(to, one.name, one.type, one.help);
    for (const WorkerNow& worker : now.workers) {
      if (one.needs_used && !worker.used) continue;
      family.add(label(worker),
                 one.scale * static_cast<double>(one.value(worker)));
    }
  }
}

void add_ops(std::string& to, const Snapshot& now) {
  const auto add = [&](Family& family, double scale,
                       uint64_t net::OpUsed::*field) {
    for (const WorkerNow& worker : now.workers) {
      if (!worker.used) continue;
      for (const net::OpUsed& op : worker.used->ops) {
        family.add(label(worker) + ",op=\"" + escaped(op.op) + "\"",
                   scale * static_cast<double>(op.*field));
      }
    }
  };
  Family busy(to, "gt_worker_busy_seconds_total", "counter",
              "Time that an op took on a worker while somebody watched.");
  add(busy, kNano, &net::OpUsed::ns);
  Family count(to, "gt_worker_op_instructions_total", "counter",
               "Instructions of an op that ran while somebody watched.");
  add(count, 1, &net::OpUsed::count);
}

// Adds sums over the clients of each user, since the numbers of clients grow
// without end.
void add_users(std::string& to, const Snapshot& now) {
  struct Sum {
    double clients = 0, queued = 0, memory = 0, unread = 0;
  };
  std::map<std::string, Sum> users;
  for (const ClientNow& client : now.clients) {
    if (!client.is_told) continue;
    Sum& sum = users[client.user];
    ++sum.clients;
    sum.queued += kNano * static_cast<double>(client.queued_ns);
    sum.memory += static_cast<double>(client.memory);
    sum.unread += static_cast<double>(client.unread);
  }
  const auto add = [&](const char* name, const char* help, double Sum::*field) {
    Family family(to, name, "gauge", help);
    for (const auto& [user, sum] : users) {
      family.add("user=\"" + escaped(user) + "\"", sum.*field);
    }
  };
  add("gt_user_clients", "Clients that a user has.", &Sum::clients);
  add("gt_user_queue_seconds", "Estimated work of a user that is under way.",
      &Sum::queued);
  add("gt_user_memory_bytes", "Memory that the values of a user take.",
      &Sum::memory);
  add("gt_user_unread_bytes", "Results that a user has not read.",
      &Sum::unread);
}

}  // namespace

std::string metrics_text(const Snapshot& now, bool has_ended) {
  std::string out;
  add_route(out, now.route, has_ended);
  add_workers(out, now);
  add_ops(out, now);
  add_users(out, now);
  return out;
}

}  // namespace gt::top
