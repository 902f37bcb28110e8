// The placed stream as text, and what its lines are expected to cost.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/call.h"
#include "shard/config.h"
#include "shard/plan.h"
#include "shard/register_bytes.h"
#include "spmd/redistribution.h"
#include "stream/line.h"

namespace gt::shard {

// What the lines are expected to cost, for the summary.
struct ShardCosts {
  struct Traffic {
    uint64_t lines = 0;
    double bytes = 0;  // that each rank sends
  };
  std::map<std::string, Traffic, std::less<>> traffic;  // by op
  double seconds = 0;
  double peak_bytes = 0;  // that a rank holds at a time, the largest

  double bytes() const;
  // What came since.
  ShardCosts since(const ShardCosts& before) const;
  void add(const ShardCosts& round, double times);
};

// What a line says beside its own fields.
struct Placing {
  uint32_t set = 0;
  std::string keys;   // after the line's own
  std::string shape;  // in place of shape='s value; "" keeps it
  std::string notes;
};

// What a line of the plan says of the whole: split=, and the sizes beside it.
Placing placing_of(const Cluster& cluster, const Call& call, const Plan& plan);

class PlacedWriter {
 public:
  PlacedWriter(const Config& config, const Cluster& cluster)
      : config_(config), cluster_(cluster) {}

  // What was written and not taken yet, lines with LF.
  std::string& text() { return text_; }

  // A line that stays as it is. One with ranks means the axes that it came
  // with.
  void pass(const Line& line, std::string_view text);
  // The mesh of the config, unless it stands already.
  void declare_mesh();

  // `operands`: what is read in their place, "" of no tensors.
  void write(const Line& line, const std::vector<std::string>& operands,
             const Placing& how);
  // Lines that make `to` on the set of what is `from` where the first move
  // reads; notes stand on all of them, `last_note` on the last.
  void write_moves(const std::vector<Move>& moves, const Type& whole,
                   const std::string& to, uint32_t set, std::string from,
                   const std::string& notes, const std::string& last_note,
                   const std::string& why);
  // "y@0-1 = cast x@0-1 f32": an op without communication.
  void write_local(std::string_view op, const std::string& to,
                   const std::string& from, const Layout& layout,
                   const Type& type, const std::string& operands_and_notes);
  void write_free(const std::string& name, const Ranks& ranks);
  // One line a set.
  void write_frees(const std::vector<std::pair<std::string, uint32_t>>& names);

  // For the count of memory: the line that was written binds the name; ends;
  // frees the name.
  void hold(const std::string& name, const Layout& layout, const Type& type);
  void end_line() { memory_.end_line(); }
  void let_go(const std::string& name, const Ranks& ranks) {
    memory_.free(name, ranks);
  }

  void spend(double seconds) { costs_.seconds += seconds; }
  ShardCosts costs() const;
  void repeat(const ShardCosts& round, double times) {
    costs_.add(round, times);
  }
  // All that later lines depend on.
  void describe(std::string& out) const;

 private:
  const Config& config_;
  const Cluster& cluster_;
  std::string text_;
  bool has_mesh_ = false;   // ours was declared last
  std::string input_mesh_;  // the declaration of the input's placed lines
  ShardCosts costs_;
  RegisterBytes memory_;
};

}  // namespace gt::shard
