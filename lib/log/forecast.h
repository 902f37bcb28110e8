// Forecast: when the ranks of a placed stream would run its lines on a given
// machine, as gt-shard expects it, and what each of them does in a step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "log/step_times.h"
#include "program/line_sizes.h"
#include "program/rank_clocks.h"
#include "stream/line.h"

namespace gt::log {

class Forecast {
 public:
  // A step ends where `step` is printed; if that is empty, what is printed
  // first.
  Forecast(const Machine& machine, std::string step)
      : sizes_(machine), step_(std::move(step)) {}

  // Takes the next instruction of the stream. Lines without ranks are left out.
  void take(std::string_view text);

  // Returns the name at whose prints steps end; "" if nothing was printed.
  const std::string& step() const { return step_; }
  StepTimes times() const;

 private:
  // When what a name holds is ready, by rank; 0 where it is unknown.
  using Ready = std::vector<double>;
  // More names are not remembered, since a program that frees nothing may never
  // end.
  static constexpr size_t kMostNames = size_t{1} << 20;

  void find_names();
  double ready(int64_t rank) const;
  void print(const LineRanks& where);
  void compute(const LineRanks& where, double seconds);
  void exchange(const LineRanks& where, double seconds);
  void bind(int64_t rank, double end);
  RankTimes& spent(int64_t rank);

  LineSizes sizes_;
  RankClocks clocks_;
  std::string step_;
  std::unordered_map<std::string, Ready, TextHash, std::equal_to<>> ready_;
  // Of the names that the line reads, and of those that it binds.
  std::vector<const Ready*> reads_;
  std::vector<Ready*> writes_;
  // When steps ended, and what each rank had done when it came there, by rank.
  std::vector<double> ends_;
  std::vector<std::vector<RankTimes>> at_ends_;
  std::vector<RankTimes> spent_;  // by rank
  double last_ = 0;               // when all lines so far have run
  Line line_;
};

}  // namespace gt::log
