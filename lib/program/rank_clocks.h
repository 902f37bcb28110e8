// Computes when the lines of a placed stream run, in the order of the stream.
// Each rank does two things at a time: it computes one line after the other,
// and beside that it takes part in one exchange after the other. An exchange
// begins on a rank once the rank has computed all lines that stand before it,
// as on the workers (lib/exec/comm/engine.h). Times are in seconds from the
// start.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "spmd/rank_set.h"

namespace gt {

class RankClocks {
 public:
  // Returns when the rank has computed all lines so far.
  double computed(int64_t rank) const {
    const auto place = static_cast<size_t>(rank);
    return place < clocks_.size() ? clocks_[place].computed : 0;
  }

  // The rank computes for so long, once what it reads is there. Returns when it
  // is done.
  double compute(int64_t rank, double ready, double seconds) {
    double& at = clock(rank).computed;
    at = std::max(at, ready) + seconds;
    return at;
  }

  // What the senders have, which is there at `ready`, takes so long to the
  // receivers. Each of these waits for all senders, which wait for nobody.
  // Returns when it has arrived.
  double exchange(const Ranks& senders, const Ranks& receivers, double ready,
                  double seconds) {
    double begin = ready;
    for (const int64_t rank : senders) {
      begin = std::max(begin, pass(rank, ready));
    }
    for (const int64_t rank : receivers) begin = std::max(begin, reached(rank));
    for (const int64_t rank : receivers) {
      clock(rank).exchanged = begin + seconds;
    }
    return begin + seconds;
  }
  // Does the same for a rank of an exchange in which nothing travels, as in a
  // conversion: it waits for no other.
  double pass(int64_t rank, double ready) {
    double& at = clock(rank).exchanged;
    at = std::max(reached(rank), ready);
    return at;
  }

 private:
  struct Clock {
    double computed = 0;   // when it has computed all lines so far
    double exchanged = 0;  // when it is through all exchanges so far
  };
  // Returns when the rank comes to its next exchange.
  double reached(int64_t rank) {
    const Clock& at = clock(rank);
    return std::max(at.computed, at.exchanged);
  }
  Clock& clock(int64_t rank) {
    const auto place = static_cast<size_t>(rank);
    if (place >= clocks_.size()) clocks_.resize(place + 1);
    return clocks_[place];
  }

  std::vector<Clock> clocks_;  // by rank
};

}  // namespace gt
