// Lines that each rank of a set computes with what it has, under names of ours:
// the types are those of a rank's own pieces. They are checked in local mode
// (#local). Such lines write an op in a way that no layouts of whole values can
// say (ring.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "shard/line_work.h"
#include "shard/placed_writer.h"
#include "shard/values.h"
#include "spmd/machine.h"

namespace gt::shard {

class LocalLines {
 public:
  // The lines serve that of `at`; `why` is their #why=.
  LocalLines(Cluster& cluster, const Machine& machine, ValueTable& values,
             PlacedWriter& writer, const LineContext& at,
             const std::string& why);

  // Says that ranks have pieces of this type under a name that is not ours.
  void know(const std::string& name, const Type& piece) {
    types_[name] = piece;
  }
  const Type& type(const std::string& name) const { return types_.at(name); }
  const Machine& machine() const { return machine_; }

  std::string new_name();
  // Writes the line, "y = add a b" without ranks, for these ranks. `notes`
  // stand behind those of all lines.
  void write(const std::string& line, const Ranks& ranks,
             const std::string& notes = "");
  // The same for a line with one result. Returns the new name that has it.
  std::string make(const std::string& expression, const Ranks& ranks);
  // Writes a copy of what sources[i] has under the name `from` to targets[i],
  // under the name `to`.
  void copy(const std::string& to, const Ranks& targets,
            const std::string& from, const Ranks& sources);
  // Frees names; those that are not ours stay.
  void drop(const std::vector<std::string>& names);
  // Returns how many seconds a rank is expected to take for such a line.
  double seconds_of(const std::string& line) const;

 private:
  void bind(const Line& line, Call& call) const;

  Cluster& cluster_;
  const Machine& machine_;
  ValueTable& values_;
  PlacedWriter& writer_;
  std::string space_;
  std::string notes_;
  std::map<std::string, Type> types_;
  std::map<std::string, Ranks> ours_;  // names of ours, and where they are
};

}  // namespace gt::shard
