// Writes the placed stream as text, frees included, and counts what its lines
// are expected to cost.
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
  double peak_bytes = 0;  // the most that any rank holds at a time

  double bytes() const;  // of all traffic
  // What came since; the peak stays that of all.
  ShardCosts since(const ShardCosts& before) const;
  void add(const ShardCosts& round, double times);  // peaks apart
};

// What a line says when it is placed, beside what it said before.
struct Placing {
  uint32_t set = 0;   // its ranks (Cluster::ranks)
  std::string keys;   // that follow the line's own, " split=tp:1"
  std::string shape;  // in place of the value of shape=; "" keeps that
  std::string notes;
};

// What a line says that is taken as planned: its ranks, and, if it must, split=
// with the sizes of the whole.
Placing placing_of(const Cluster& cluster, const Call& call, const Plan& plan);

class PlacedWriter {
 public:
  PlacedWriter(const Config& config, const Cluster& cluster)
      : config_(config), cluster_(cluster) {}

  // What was written and not taken yet, lines with LF.
  std::string& text() { return text_; }

  // Writes a line of the input as it came. If it has ranks or declares a mesh,
  // it means the meshes of the input: where the config's was declared since,
  // that one ends before.
  void pass(const Line& line, std::string_view text);
  // Declares the mesh of the config, unless it is the one in force.
  void declare_mesh();

  // Writes the line as it is placed. `operands`: by operand of the line the
  // name that it reads in that place; "" keeps what the line says.
  void write(const Line& line, const std::vector<std::string>& operands,
             const Placing& how);
  // Writes the lines that move a tensor: the first reads `from`, and all of
  // them bind `to`, which has the last layout on the ranks of `set`. `notes`
  // are put on all of them, `last_note` on the last; `why` is their #why=.
  void write_moves(const std::vector<Move>& moves, const Type& whole,
                   const std::string& to, uint32_t set, std::string from,
                   const std::string& notes, const std::string& last_note,
                   const std::string& why);
  // Writes an op without communication, "y@0-1 = cast x@0-1 f32".
  void write_local(std::string_view op, const std::string& to,
                   const std::string& from, const Layout& layout,
                   const Type& type, const std::string& operands_and_notes);
  void write_free(const std::string& name, const Ranks& ranks);
  // Frees of registers, each on its set of ranks: one line for each set.
  void write_frees(const std::vector<std::pair<std::string, uint32_t>>& names);

  // For the count of memory (register_bytes.h): the line that was written last
  // binds the name; it ends; the name is freed.
  void hold(const std::string& name, const Layout& layout, const Type& type);
  void end_line() { memory_.end_line(); }
  void let_go(const std::string& name, const Ranks& ranks) {
    memory_.free(name, ranks);
  }

  // Adds to the expected time what the lines themselves take; moves add theirs.
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
  // Whose mesh is the current one: the input's, or none; the input's, which is
  // the config's word for word; the config's, within those of the input.
  enum class Current : char { kInput = 'i', kSame = 's', kConfig = 'c' };
  Current mesh_ = Current::kInput;
  ShardCosts costs_;
  RegisterBytes memory_;
};

}  // namespace gt::shard
