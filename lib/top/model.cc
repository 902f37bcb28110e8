#include "top/model.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace gt::top {
namespace {

using Kind = Cell::Kind;

double seconds_of(uint64_t ns) { return kNano * static_cast<double>(ns); }
double real(uint64_t count) { return static_cast<double>(count); }

}  // namespace

void Rate::take(double count, double seconds) {
  if (count < count_ || seconds < seconds_) *this = Rate();
  const double passed = seconds - seconds_;
  if (passed <= 0) return;
  const double rate = (count - count_) / passed;
  if (has_base_) {
    const double seen = seconds - since_;
    value_ += (rate - value_) * std::expm1(-passed / kSmooth) /
              std::expm1(-seen / kSmooth);
  } else {
    value_ = rate;
    since_ = seconds;
    has_base_ = true;
    moved_ = seconds;
  }
  if (count != count_) moved_ = seconds;
  is_known_ = true;
  count_ = count;
  seconds_ = seconds;
}

void History::take(double value, double seconds) {
  if (seconds < last_) *this = History();
  if (seconds - last_ < kApart) return;
  last_ = seconds;
  values_.push_back(value);
  if (values_.size() > kMost) values_.pop_front();
}

const History* Model::busy_history(std::string_view worker) const {
  uint64_t id = 0;
  const auto known =
      read_number(worker, id) ? workers_.find(id) : workers_.end();
  return known == workers_.end() ? nullptr : &known->second.history;
}

void Model::take(Snapshot now) {
  const double uptime = real(now.route.uptime_ms) / 1000;
  route_.lines.take(real(now.route.lines), uptime);
  route_.written.take(real(now.route.written), uptime);
  route_.cpu.take(seconds_of(now.route.cpu), uptime);
  lines_history_.take(route_.lines.value(), uptime);
  for (const WorkerNow& worker : now.workers) {
    if (!worker.used) continue;
    WorkerRates& rates = workers_[worker.id];
    if (rates.epoch != worker.epoch) rates = {};
    rates.epoch = worker.epoch;
    const net::Used& used = *worker.used;
    const double time = seconds_of(used.time);
    rates.lines.take(real(used.lines), time);
    rates.busy.take(seconds_of(used.busy), time);
    rates.waited.take(seconds_of(used.waited), time);
    rates.exchanging.take(seconds_of(used.exchanging), time);
    rates.in.take(real(used.in), time);
    rates.out.take(real(used.out), time);
    rates.cpu.take(seconds_of(used.cpu), time);
    rates.history.take(rates.busy.value(), time);
    const bool is_first = rates.time == 0;
    for (const net::OpUsed& op : used.ops) {
      const double ran = seconds_of(op.ns), times = real(op.count);
      // An op that was not reported before has not run before.
      const auto fresh = [&](double counted) {
        return is_first ? Rate(counted, time) : Rate(0, rates.time);
      };
      auto& [spent, count] =
          rates.ops.try_emplace(op.op, fresh(ran), fresh(times)).first->second;
      spent.take(ran, time);
      count.take(times, time);
    }
    rates.time = time;
  }
  double busy = 0;
  for (const auto& [id, rates] : workers_) busy += rates.busy.value();
  if (!workers_.empty()) busy /= static_cast<double>(workers_.size());
  busy_history_.take(busy, uptime);
  std::map<std::string, ClientRates> clients;  // the clients that are there now
  for (const ClientNow& client : now.clients) {
    ClientRates rates = clients_[client.id];
    rates.lines.take(real(client.lines), uptime);
    rates.served.take(seconds_of(client.served_ns), uptime);
    clients.emplace(client.id, rates);
  }
  clients_ = std::move(clients);
  now_ = std::move(now);
}

std::string Model::state() const {
  if (!ended_.empty()) return ended_;
  if (now_ && now_->route.full_ms > 0) return "full";
  return "running";
}

std::vector<Row> Model::rows(Row::Kind kind) const {
  std::vector<Row> rows;
  if (!now_) return rows;
  switch (kind) {
    case Row::Kind::kRoute:
      rows.push_back(route_row());
      break;
    case Row::Kind::kWorker:
      for (const WorkerNow& one : now_->workers)
        rows.push_back(worker_row(one));
      break;
    case Row::Kind::kOp:
      for (const net::OpUsed& op : now_->ops) rows.push_back(op_row(op));
      break;
    case Row::Kind::kWorkerOp:
      for (const WorkerNow& one : now_->workers) add_op_rows(one, rows);
      break;
    case Row::Kind::kClient:
      for (const ClientNow& one : now_->clients)
        rows.push_back(client_row(one));
      break;
  }
  return rows;
}

Row Model::route_row() const {
  const RouteNow& route = now_->route;
  Row row{Row::Kind::kRoute, {}};
  row.text(Column::kId, std::to_string(route.pid))
      .text(Column::kName, route.file)
      .text(Column::kState, state())
      .set(Column::kRate, Kind::kCount, route_.lines.value())
      .set(Column::kCount, Kind::kCount, real(route.lines))
      .set(Column::kSeconds, Kind::kSeconds, real(route.uptime_ms) / 1000)
      .set(Column::kOutRate, Kind::kBytes, route_.written.value())
      .set(Column::kResultBytes, Kind::kBytes, real(route.written))
      .set(Column::kUnread, Kind::kBytes, real(route.owed));
  if (route.resident > 0) {
    row.set(Column::kCpu, Kind::kShare, route_.cpu.value())
        .set(Column::kResident, Kind::kBytes, real(route.resident));
  }
  if (route.full_ms > 0) {
    row.set(Column::kWaitSeconds, Kind::kSeconds, real(route.full_ms) / 1000);
  }
  return row.text(Column::kWaitFor, longest_wait(*now_));
}

Row Model::worker_row(const WorkerNow& worker) const {
  Row row{Row::Kind::kWorker, {}};
  row.text(Column::kId, std::to_string(worker.id))
      .text(Column::kName, worker.name)
      .text(Column::kState, is_waiting(worker) ? "waits" : worker.state)
      .set(Column::kQueue, Kind::kCount, real(worker.behind))
      .set(Column::kQueueBytes, Kind::kBytes, real(worker.queued))
      .set(Column::kQueueSeconds, Kind::kSeconds, seconds_of(worker.queued_ns))
      .set(Column::kTextBytes, Kind::kBytes, real(worker.text))
      .set(Column::kResultBytes, Kind::kBytes, real(worker.results))
      .text(Column::kHost, worker.host)
      .text(Column::kAt, worker.at)
      .text(Column::kLine, worker.line);
  if (is_waiting(worker)) {
    row.set(Column::kWaitSeconds, Kind::kSeconds, real(worker.wait.ms) / 1000)
        .text(Column::kWaitFor, worker.wait.words);
  }
  const auto known = workers_.find(worker.id);
  if (!worker.used || known == workers_.end()) return row;
  const net::Used& used = *worker.used;
  const WorkerRates& rates = known->second;
  row.set(Column::kBusy, Kind::kShare, rates.busy.value())
      .set(Column::kComm, Kind::kShare, rates.exchanging.value())
      .set(Column::kWait, Kind::kShare, rates.waited.value())
      .set(Column::kRate, Kind::kCount, rates.lines.value())
      .set(Column::kCount, Kind::kCount, real(used.lines))
      .set(Column::kSeconds, Kind::kSeconds, seconds_of(used.busy))
      .set(Column::kMemory, Kind::kBytes, real(used.memory))
      .set(Column::kPeak, Kind::kBytes, real(used.peak))
      .set(Column::kInRate, Kind::kBytes, rates.in.value())
      .set(Column::kOutRate, Kind::kBytes, rates.out.value())
      .set(Column::kIn, Kind::kBytes, real(used.in))
      .set(Column::kOut, Kind::kBytes, real(used.out));
  if (used.resident > 0) {
    row.set(Column::kCpu, Kind::kShare, rates.cpu.value())
        .set(Column::kResident, Kind::kBytes, real(used.resident));
  }
  const auto most = std::ranges::max_element(
      rates.ops, {}, [](const auto& op) { return op.second.first.value(); });
  if (most != rates.ops.end() && most->second.first.is_known()) {
    row.text(Column::kTop, most->first);
  }
  return row;
}

void Model::add_op_rows(const WorkerNow& worker, std::vector<Row>& rows) const {
  const auto known = workers_.find(worker.id);
  if (!worker.used || known == workers_.end()) return;
  for (const net::OpUsed& op : worker.used->ops) {
    const auto& [spent, count] = known->second.ops.at(op.op);
    Row row{Row::Kind::kWorkerOp, {}};
    row.text(Column::kId, std::to_string(worker.id))
        .text(Column::kName, op.op)
        .set(Column::kCount, Kind::kCount, real(op.count))
        .set(Column::kSeconds, Kind::kSeconds, seconds_of(op.ns));
    if (spent.is_known()) {
      row.set(Column::kBusy, Kind::kShare, spent.value())
          .set(Column::kRate, Kind::kCount, count.value());
    }
    if (op.count > 0) {
      row.set(Column::kMean, Kind::kSeconds,
              seconds_of(op.ns) / real(op.count));
    }
    rows.push_back(std::move(row));
  }
}

// Shares refer to the time of all workers together.
Row Model::op_row(const net::OpUsed& op) const {
  Row row{Row::Kind::kOp, {}};
  row.text(Column::kName, op.op)
      .set(Column::kCount, Kind::kCount, real(op.count))
      .set(Column::kSeconds, Kind::kSeconds, seconds_of(op.ns));
  if (op.count > 0) {
    row.set(Column::kMean, Kind::kSeconds, seconds_of(op.ns) / real(op.count));
  }
  double busy = 0;
  double rate = 0;
  bool is_known = false;
  for (const auto& [id, rates] : workers_) {
    const auto of = rates.ops.find(op.op);
    if (of == rates.ops.end() || !of->second.first.is_known()) continue;
    busy += of->second.first.value();
    rate += of->second.second.value();
    is_known = true;
  }
  if (!is_known) return row;
  const auto workers =
      static_cast<double>(std::max<size_t>(1, workers_.size()));
  return row.set(Column::kBusy, Kind::kShare, busy / workers)
      .set(Column::kRate, Kind::kCount, rate);
}

// Returns the work that a client is given now, in seconds per second. If it is
// given nothing any more, what is left of its smoothed rate is from the past.
double Model::served_now(const ClientRates& rates) {
  return rates.served.stands() ? 0 : rates.served.value();
}

// Returns the sum for all clients; never 0.
double Model::all_served() const {
  double sum = 0;
  for (const auto& [id, rates] : clients_) sum += served_now(rates);
  return sum > 0 ? sum : 1;
}

Row Model::client_row(const ClientNow& client) const {
  const ClientRates& rates = clients_.at(client.id);
  Row row{Row::Kind::kClient, {}};
  row.text(Column::kId, client.id)
      .text(Column::kName, client.user)
      .text(Column::kState, client.state)
      .set(Column::kRate, Kind::kCount, rates.lines.value())
      .set(Column::kCount, Kind::kCount, real(client.lines))
      .set(Column::kResultBytes, Kind::kBytes, real(client.owed));
  if (!client.is_told) return row;
  row.set(Column::kBusy, Kind::kShare, served_now(rates) / all_served())
      .set(Column::kSeconds, Kind::kSeconds, seconds_of(client.served_ns))
      .set(Column::kMemory, Kind::kBytes, real(client.memory))
      .set(Column::kQueue, Kind::kCount, real(client.blocks))
      .set(Column::kQueueSeconds, Kind::kSeconds, seconds_of(client.queued_ns))
      .set(Column::kUnread, Kind::kBytes, real(client.unread))
      .set(Column::kShare, Kind::kCount, client.share);
  if (client.quota > 0) {
    row.set(Column::kQuota, Kind::kBytes, real(client.quota));
  }
  return row;
}

}  // namespace gt::top
