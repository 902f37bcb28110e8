// What the tables show: the last snapshot, and rates that are made of it and of
// those before, smoothed over time. Knows no clock: a worker's rates go by its
// own time, those of gt-route by the time that gt-route has been up.
//
// A rate is an exponentially weighted mean with a time constant of kSmooth: of
// a change of the true rate, two thirds are seen after that time. It counts
// what was seen alone, so that the first seconds of watching are not mixed with
// what was before; only after the very first snapshot it is the mean since
// counting began.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "top/snapshot.h"
#include "top/table.h"

namespace gt::top {

// A counter's smoothed rate.
class Rate {
 public:
  static constexpr double kSmooth = 5;  // seconds

  Rate() = default;
  // Of a counter that stood at 0 then.
  explicit Rate(double seconds)
      : seconds_(seconds), since_(seconds), moved_(seconds), has_base_(true) {}

  // The counter stands at `count` after so many seconds in all. Where either
  // has gone back, it begins anew.
  void take(double count, double seconds);
  double value() const { return value_; }  // a second
  // Whether the counter has not moved for kSmooth.
  bool stands() const { return seconds_ - moved_ >= kSmooth; }

 private:
  double count_ = 0;
  double seconds_ = 0;
  double since_ = 0;  // when it was first looked at
  double moved_ = 0;  // when it was last seen to have moved
  double value_ = 0;
  bool has_base_ = false;
};

class Model {
 public:
  void take(Snapshot now);
  // The run is over; how.
  void end(std::string how) { ended_ = std::move(how); }

  bool has_any() const { return now_.has_value(); }
  const Snapshot& now() const { return *now_; }
  // "running", "full" or how it ended.
  std::string state() const;
  double lines_rate() const { return route_.lines.value(); }

  // The rows of a kind. Those of kind kOp are sums over the workers.
  std::vector<Row> rows(Row::Kind kind) const;

 private:
  struct WorkerRates {
    uint64_t epoch = 0;
    double time = 0;  // seconds, of the last that it told
    Rate lines, busy, waited, exchanging, in, out;
    std::map<std::string, std::pair<Rate, Rate>> ops;  // seconds, and count
  };
  struct ClientRates {
    Rate lines, served;
  };
  struct RouteRates {
    Rate lines, written;
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
  std::map<uint64_t, WorkerRates> workers_;
  std::map<std::string, ClientRates> clients_;
};

}  // namespace gt::top
