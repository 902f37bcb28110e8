// Sends small sums over ranks together: buckets. The gradients of biases and
// norms are so small that their sums take little but the latency of a message.
// So a small sum that finds the link of its ranks busy is not written where it
// is asked for. It is held until the link is expected to be idle, and then
// written together with what else was held meanwhile:
//
//   _s0@0-7 = concat gb@0-7 gc@0-7 axis=0
//   _s0@0-7 = all_reduce _s0@0-7 over=dp
//   gb@0-7 gc@0-7 = split _s0@0-7 axis=0 sizes=64,256
//
// The split, or the cast of a sum that is sent in fewer digits, is written when
// a line needs it, since whoever computes it waits for the sum.
//
// Sums are taken element by element in one order of the ranks, so the values
// have the bits that they have one by one. What is not a vector is viewed as
// one by reshape; where a sum is cut by rows, or is left in rows, it is viewed
// as a matrix with a row for each part.
//
// No sum waits while the link is idle, or behind a line that reads it, so none
// comes later than by itself. For that the link has a clock: what was sent
// keeps it busy, and the lines that compute meanwhile, or wait for what was
// sent, bring it closer to its end. Other links have clocks of their own. A sum
// is small if to copy it into the bucket and back takes less time than the
// latency.
//
// Source: the gradient buckets of Li et al., "PyTorch Distributed: Experiences
// on Accelerating Data Parallel Training" (VLDB 2020).
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shard/config.h"
#include "shard/values.h"
#include "spmd/move.h"

namespace gt::shard {

class PlacedWriter;

// The #why= of the casts of a sum that is sent in this dtype.
std::string why_sent_as(Dtype dtype);

class SumBuckets {
 public:
  SumBuckets(const Config& config, const Cluster& cluster, ValueTable& values,
             PlacedWriter& writer)
      : config_(config),
        cluster_(cluster),
        values_(values),
        writer_(writer),
        holds_(config.overlap()) {}
  // Each sum is written at once from now on.
  void hold_none() { holds_ = false; }

  // What moves bring from the register `from` to the register `to`.
  struct Moved {
    Type type;      // as it is sent
    Dtype dtype;    // to which it is cast behind
    Layout layout;  // in which it arrives
    std::string to, from;
    std::string notes, last_note, why;
  };
  // Writes the moves; if they make a small sum and the link is busy, later.
  void move(const std::vector<Move>& moves, const Moved& moved);

  // To be called before a line that reads, binds or frees the register: writes
  // what is held if that is among it, and what it needs when it was sent.
  void touch(std::string_view name);
  // To be called before a line that computes for so many seconds: writes what
  // is held for links that would be idle meanwhile.
  void compute(double seconds);
  // Notes that a register was sent over the link of a set of ranks.
  void note_sent(uint32_t set, const std::string& name, double seconds);
  // Writes all that is held.
  void release();

  // Returns the seconds that all that is held takes one by one.
  double seconds() const;
  // Appends, as text, everything that later lines depend on.
  void describe(std::string& out) const;

 private:
  struct Bucket {
    Layout before, after;  // of what the sums are viewed as
    double latency = 0;    // of a message
    double seconds = 0;    // of all sums, one by one
    double copies = 0;     // seconds to join them and to part them
    std::vector<std::pair<Move, Moved>> sums;
    std::string joined;  // once it was sent: the name that has all; or ""
  };
  struct Sent {
    std::string name;
    double seconds;  // that are left
  };
  using Link = std::deque<Sent>;

  bool hold(const std::vector<Move>& moves, const Moved& moved);
  Shape viewed(const Layout& after, const Type& type) const;
  std::vector<Move> moves_of(const Bucket& bucket, const Type& type) const;
  void send_all();
  void send_over(uint32_t set);
  void send(Bucket bucket);
  void send(const std::vector<Move>& moves, const Moved& moved);
  void join(Bucket bucket);
  Type joined_type(const Bucket& bucket) const;
  void part(const Bucket& bucket);
  std::string view(const Bucket& bucket, const Move& move, const Moved& sum,
                   const std::string& notes);
  void finish(const Bucket& bucket, const Moved& sum, const std::string& notes);
  void write_cast(const Moved& moved);
  void write_local(const std::string& text, const std::vector<Type>& types,
                   const Layout& from, const Layout& made);

  const Config& config_;
  const Cluster& cluster_;
  ValueTable& values_;
  PlacedWriter& writer_;
  bool holds_;
  std::map<std::string, Bucket> buckets_;  // by what its sums have in common
  std::vector<Bucket> on_the_way_;  // of which the split is still to be written
  std::map<uint32_t, Link> links_;  // by set of ranks (Cluster::ranks)
};

}  // namespace gt::shard
