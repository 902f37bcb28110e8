// Model: what the tables show: the last snapshot, and rates computed from it
// and from those before, smoothed over time. It uses no clock: a worker's rates
// go by the worker's own time, those of gt-route by its uptime.
//
// A rate is an exponentially weighted mean with a time constant of kSmooth:
// after that time, two thirds of a change of the true rate are visible. Only
// what was seen counts, so that the first seconds of watching are not mixed
// with the time before; except that after the very first snapshot the rate is
// the mean since counting began. The counters of ops began when somebody
// watched, at an unknown time, so their rates are known from the second report
// on.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "top/snapshot.h"
#include "top/table.h"

namespace gt::top {

// The smoothed rate of a counter.
class Rate {
 public:
  static constexpr double kSmooth = 5;  // seconds

  Rate() = default;
  // The rate of a counter that had this value at this time. It is known from
  // the next time on.
  Rate(double count, double seconds)
      : count_(count),
        seconds_(seconds),
        since_(seconds),
        moved_(seconds),
        has_base_(true) {}

  // Takes the counter's value at a time, in seconds. If either has gone back,
  // the rate begins anew.
  void take(double count, double seconds);
  double value() const { return value_; }  // per second
  bool is_known() const { return is_known_; }
  // True if the counter has not moved for kSmooth.
  bool stands() const { return seconds_ - moved_ >= kSmooth; }

 private:
  double count_ = 0;
  double seconds_ = 0;
  double since_ = 0;  // time of the first look at the counter
  double moved_ = 0;  // time at which it was last seen to have moved
  double value_ = 0;
  bool has_base_ = false;
  bool is_known_ = false;
};

// The last values of a rate, one for each half a second or more: for a picture
// of what it has been lately.
class History {
 public:
  static constexpr size_t kMost = 120;
  static constexpr double kApart = 0.5;  // seconds

  void take(double value, double seconds);
  const std::deque<double>& values() const { return values_; }  // newest last

 private:
  std::deque<double> values_;
  double last_ = -kApart;
};

class Model {
 public:
  void take(Snapshot now);
  // Says that the run is over, and how it ended.
  void end(std::string how) { ended_ = std::move(how); }

  bool has_any() const { return now_.has_value(); }
  const Snapshot& now() const { return *now_; }
  // Returns "running", "full", or how the run ended.
  std::string state() const;
  double lines_rate() const { return route_.lines.value(); }
  double cpu() const { return route_.cpu.value(); }  // of gt-route, in cores
  // Returns the history of the instructions that gt-route reads a second.
  const History& lines_history() const { return lines_history_; }
  // Returns the history of the mean of the workers' shares below.
  const History& busy_history() const { return busy_history_; }
  // Returns the history of the share of the time in which a worker's compute
  // ran; null if that is not known.
  const History* busy_history(std::string_view worker) const;

  // Returns the rows of a kind. Those of kind kOp are sums over the workers.
  std::vector<Row> rows(Row::Kind kind) const;

 private:
  struct WorkerRates {
    uint64_t epoch = 0;
    double time = 0;  // time of its last report, in seconds
    Rate lines, busy, waited, exchanging, in, out, cpu;
    History history;  // of busy
    // Rates of seconds and of count.
    std::map<std::string, std::pair<Rate, Rate>> ops;
  };
  struct ClientRates {
    Rate lines, served;
  };
  struct RouteRates {
    Rate lines, written, cpu;
  };

  Row route_row() const;
  Row worker_row(const WorkerNow& worker) const;
  Row client_row(const ClientNow& client) const;
  static double served_now(const ClientRates& rates);
  double all_served() const;
  void add_op_rows(const WorkerNow& worker, std::vector<Row>& rows) const;
  Row op_row(const net::OpUsed& op) const;

  std::optional<Snapshot> now_;
  std::string ended_;
  RouteRates route_;
  History lines_history_, busy_history_;
  std::map<uint64_t, WorkerRates> workers_;
  std::map<std::string, ClientRates> clients_;
};

}  // namespace gt::top
