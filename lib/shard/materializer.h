// Makes values be there in the layouts that lines want: writes the lines that
// wait for their first use, moves what is cut otherwise, and lets go of what
// nobody will read.
#pragma once

#include <string>

#include "shard/explanation.h"
#include "shard/line_work.h"
#include "shard/placed_writer.h"
#include "shard/values.h"

namespace gt::shard {

class Materializer {
 public:
  Materializer(const Config& config, Cluster& cluster, ValueTable& values,
               PlacedWriter& writer, Explanation& explanation)
      : config_(config),
        cluster_(cluster),
        values_(values),
        writer_(writer),
        explanation_(explanation) {}

  // The name of a register that holds the value in the layout. Unless others of
  // the line read it as it is (`is_shared`), a sum replaces its summands.
  std::string fetch(const ShardValuePtr& value, const Layout& wanted,
                    bool is_shared, const std::string& why, LineContext& at);
  // The value's own registers take the layout; `note` stands on the last line.
  void change(const ShardValuePtr& value, const Layout& wanted,
              const std::string& why, const LineContext& at,
              const std::string& note = "");
  // Copies that were for this line go.
  void drop_passing(const ShardValuePtr& value, const LineContext& at);
  void write_frees() { writer_.write_frees(values_.take_frees()); }

  // The name's value, which no other name has: what changes it changes no
  // other.
  ShardValuePtr alone(const std::string& name);
  // The name is about to hold something else: an unwritten line will read what
  // it holds, or nobody will.
  void keep_for_readers(const std::string& name, LineContext& at);
  // The name holds its value no more; what was kept of it goes with the last.
  void unbind(const std::string& name, LineContext& at);

  // Writes a line that waits, where nobody says how its result is cut.
  void create_default(const ShardValuePtr& value, LineContext& at);
  // Nobody reads it, but that it fails must be seen: by one rank of those where
  // the config does not say how it is cut.
  void create_unread(const ShardValuePtr& value, LineContext& at);

 private:
  Layout made_as(const ShardValuePtr& value, const Layout& wanted) const;
  Layout made_by_default(const ShardValuePtr& value) const;
  void create(const ShardValuePtr& value, const Layout& layout,
              const std::string& reader, LineContext& at);
  void stop_reading(const ShardValuePtr& value, LineContext& at);
  void let_go(const ShardValuePtr& value, LineContext& at);
  std::string summands_note(const Layout& layout) const;

  const Config& config_;
  Cluster& cluster_;
  ValueTable& values_;
  PlacedWriter& writer_;
  Explanation& explanation_;
};

}  // namespace gt::shard
