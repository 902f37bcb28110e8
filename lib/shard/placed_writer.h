// Writes the lines of the placed stream as text, including its frees, and
// estimates what these lines cost.
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
#include "shard/shard_costs.h"
#include "shard/sum_buckets.h"
#include "spmd/redistribution.h"
#include "stream/line.h"

namespace gt::shard {

// What a line says when it is placed, in addition to what it said before.
struct Placing {
  uint32_t set = 0;   // the ranks on which it runs (Cluster::ranks)
  std::string keys;   // keys put behind its own, " split=tp:1"
  std::string shape;  // new value of shape=; "" keeps the old one
  std::string notes;
};

// Returns what a line says when it is written as planned: its ranks, and, if
// the op needs them, split= and the sizes of the whole.
Placing placing_of(const Cluster& cluster, const Call& call, const Plan& plan);

class PlacedWriter {
 public:
  PlacedWriter(const Config& config, const Cluster& cluster, ValueTable& values)
      : config_(config),
        cluster_(cluster),
        sums_(config, cluster, values, *this),
        sent_(cluster) {}
  PlacedWriter(const PlacedWriter&) = delete;  // its sums refer to it

  // The lines that were written and not yet taken by the caller, each with LF.
  std::string& text() { return text_; }
  // Small sums are held back in these, which are told of each line before it is
  // written, and may write some first.
  SumBuckets& sums() { return sums_; }
  // Returns the text for a caller that appends a line to it, behind all sums
  // that were held back.
  std::string& text_behind_sums() {
    sums_.release();
    return text_;
  }

  // Writes a line of the input unchanged. If the line has ranks or declares a
  // mesh, it refers to the meshes of the input. So if the config's mesh was
  // declared since, an endmesh is written before the line.
  void pass(const Line& line, std::string_view text);
  // Declares the mesh of the config, unless that mesh is already in force.
  void declare_mesh();

  // Writes the line with its ranks. operands[i] is the name that the line reads
  // as its operand i; "" keeps what the line says. The line itself is expected
  // to take so many seconds.
  void write(const Line& line, const std::vector<std::string>& operands,
             const Placing& how, double seconds = 0);
  // Writes the lines that move a tensor. The first line reads `from`, and all
  // of them bind `to`. After the last one `to` has the layout of the last move,
  // and holds it only on the ranks of `set`. `notes` are put on all lines and
  // `last_note` on the last one; `why` is the #why= of each.
  void write_moves(const std::vector<Move>& moves, const Type& whole,
                   const std::string& to, uint32_t set, std::string from,
                   const std::string& notes, const std::string& last_note,
                   const std::string& why);
  // Writes a copy of pieces of this type from sources[i] to targets[i], whose
  // order may be any.
  void write_copy(const std::string& to, const Ranks& targets,
                  const std::string& from, const Ranks& sources,
                  const Type& piece, const std::string& notes);
  // Writes a line without communication, such as "y@0-1 = cast x@0-1 f32".
  void write_local(std::string_view op, const std::string& to,
                   const std::string& from, const Layout& layout,
                   const Type& type, const std::string& operands_and_notes,
                   double seconds = 0);
  // Writes a cast of `from` to the type.
  void write_cast(const std::string& to, const std::string& from,
                  const Layout& layout, const Type& type,
                  const std::string& notes, const std::string& why);
  void write_free(const std::string& name, const Ranks& ranks);
  // Frees registers, each on its set of ranks. Writes one line for each set.
  void write_frees(const std::vector<std::pair<std::string, uint32_t>>& names);

  // These keep count of the memory that registers hold (register_bytes.h).
  // hold(): the line that was written last binds the name. end_line(): that
  // line is complete. let_go(): the next line will free the name.
  void hold(const std::string& name, const Layout& layout, const Type& type);
  void end_line() { memory_.end_line(); }
  void let_go(const std::string& name, const Ranks& ranks) {
    sums_.touch(name);
    memory_.free(name, ranks);
  }

  ShardCosts costs() const;
  double seconds() const { return costs_.seconds + sums_.seconds(); }
  double peak_bytes() const { return static_cast<double>(memory_.most()); }
  void repeat(const ShardCosts& round, double times) {
    costs_.add(round, times);
  }
  // Appends, as text, everything that later lines depend on.
  void describe(std::string& out) const;

 private:
  void compute(double seconds);

  const Config& config_;
  const Cluster& cluster_;
  SumBuckets sums_;
  std::string text_;
  // Whose mesh is in force. kInput: one of the input, or none. kSame: one of
  // the input that is identical to the config's. kConfig: the config's, which
  // was declared within those of the input.
  enum class Current : char { kInput = 'i', kSame = 's', kConfig = 'c' };
  Current mesh_ = Current::kInput;
  ShardCosts costs_;
  MovesSent sent_;
  RegisterBytes memory_;
};

}  // namespace gt::shard
