// Makes values be there in the layouts in which lines read them, and lets go of
// them. It writes lines that waited for their first use (waiting.h), and moves
// values from one layout to another.
//
// A value may be there in several layouts (ShardValue::copies): its own, under
// the names of the input, and copies that were fetched for readers, each in a
// register that gt-shard invented. A copy goes right after the line that it was
// made for if it cost no communication, or where the config says regather:;
// else it is kept for further readers. What is left goes with the last name of
// the value, once no waiting line will read it any more. Registers that go are
// freed after the line (ValueTable::free_later). Where a sum is wanted of a
// value whose own layout is summands, the sum takes their place, and no copy is
// made.
#pragma once

#include <string>

#include "shard/chunks.h"
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

  // Returns the name of a register that holds the value in the layout, and
  // writes the lines that this takes: the one that made the value, if that
  // waited, and moves from the nearest layout. `is_shared`: another operand of
  // the line reads the value in another layout, so that its own must stay.
  // `why`: the #why= of the moves.
  std::string fetch(const ShardValuePtr& value, const Layout& wanted,
                    bool is_shared, const std::string& why, LineContext& at);
  // Moves the value's own registers to the layout, on the same ranks. `note`,
  // "" for none, is put on the last line.
  void change(const ShardValuePtr& value, const Layout& wanted,
              const std::string& why, const LineContext& at,
              const std::string& note = "");
  // The copies of the value that were made for this line only (at.passing) go.
  void drop_passing(const ShardValuePtr& value, const LineContext& at);
  // Writes the frees of registers of ours that are due.
  void write_frees() { writer_.write_frees(values_.take_frees()); }

  // The name's value, which no other name holds after this: what changes it
  // changes no other.
  ShardValuePtr alone(const std::string& name);
  // To be called before the line that binds or frees the name is written. If
  // the value has no other name but a waiting line will read it, a copy keeps
  // it under a name of ours. If it waits itself and nobody will read it, its
  // line is written if it may fail, and else never.
  void keep_for_readers(const std::string& name, LineContext& at);
  // The name holds its value no more. With the last name and the last waiting
  // reader all of the value goes.
  void unbind(const std::string& name, LineContext& at);

  // Writes the lines that join chunks, registers that hold them in this layout,
  // into the register `name`: a tensor of type `whole`, in which the chunks are
  // of the dimension at `place`. Returns the layout of the whole.
  Layout join(const std::vector<std::string>& chunks, const Layout& layout,
              const std::string& name, const Type& whole,
              const Chunking& chunking, const LabelDim& place,
              const LineContext& at);
  // Keeps the whole of the value beside it for its next reader, joined from
  // chunks of it that were gathered to this layout.
  void keep_joined(const ShardValuePtr& value,
                   const std::vector<std::string>& chunks, const Layout& layout,
                   const Chunking& chunking, const LineContext& at);

  // Writes a line that waits for a reader who takes it in any layout: cut as
  // the config says, or else whole.
  void create_default(const ShardValuePtr& value, LineContext& at);
  // Writes a line that waits though nobody will read it, if it may fail when it
  // is run, since the failure must be seen; else does nothing. Where the config
  // does not say how it is cut, a creation runs on one rank.
  void create_unread(const ShardValuePtr& value, LineContext& at);

 private:
  Layout made_as(const ShardValuePtr& value, const Layout& wanted) const;
  Layout made_by_default(const ShardValuePtr& value) const;
  void create(const ShardValuePtr& value, const Layout& layout,
              const std::string& reader, LineContext& at);
  void write_made(const Line& line, const Call& call,
                  const std::vector<std::string>& operands,
                  const Layout& layout, const std::string& notes);
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
