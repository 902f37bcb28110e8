// The expected costs of the placed stream, and the words in which the summary
// says what ranks send.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "spmd/layout.h"
#include "spmd/move.h"
#include "spmd/rank_set.h"
#include "stream/type.h"

namespace gt::shard {

// What moves send (sent_bytes()). The layers of a model move alike, so it is
// kept.
class MovesSent {
 public:
  explicit MovesSent(const Cluster& cluster) : cluster_(cluster) {}

  const std::vector<uint64_t>& bytes(const Move& move, const Type& whole);

 private:
  static constexpr size_t kMost = 4096;  // then all are forgotten
  const Cluster& cluster_;
  std::unordered_map<std::string, std::vector<uint64_t>> known_;
};

// How many bytes each rank sends to others. Mostly the ranks of a set send as
// much, so that is noted once for the set.
class SentByRank {
 public:
  void add(int64_t rank, double bytes);
  // Adds what ranks send, of the set with this number: one number for all of
  // them, or one for each.
  void add(uint32_t set, const Ranks& ranks,
           const std::vector<uint64_t>& bytes);
  void add(const SentByRank& other, double times);
  std::vector<double> by_rank(const Cluster& cluster) const;

 private:
  std::map<uint32_t, double> by_set_;  // sent by each rank of the set
  std::vector<double> by_rank_;        // besides; ranks behind its end: nothing
};

struct ShardCosts {
  struct Traffic {
    uint64_t lines = 0;
    SentByRank sent;
  };
  std::map<std::string, Traffic, std::less<>> traffic;  // by op
  double bytes = 0;  // of all moves, as plans count them (Move::bytes)
  double seconds = 0;
  double peak_bytes = 0;  // the most bytes that any rank holds at once

  // Returns the costs that were added since `before`. The peak stays that of
  // all lines.
  ShardCosts since(const ShardCosts& before) const;
  void add(const ShardCosts& round, double times);  // adds all but the peak
};

// Returns a line for each op that moves values, and one that says which rank
// sends most.
std::string traffic_text(const ShardCosts& costs, const Cluster& cluster);

}  // namespace gt::shard
