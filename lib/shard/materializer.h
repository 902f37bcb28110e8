// Brings values into the layouts in which lines read them, and frees the
// registers of values that are no longer needed. It writes the lines that
// waited for the first use of their results (waiting.h), and moves values from
// one layout to another.
//
// A value may exist in several layouts (ShardValue::copies): in its own, under
// the names of the input, and in copies that were fetched for readers, each in
// a register that gt-shard invented. A copy that cost no communication is
// dropped right after the line that it was made for; so is any copy if the
// config says regather:. Other copies are kept for further readers. The
// remaining copies are dropped with the last name of the value, once no waiting
// line will read it any more. Registers that are dropped are freed after the
// line (ValueTable::free_later). If the value's own layout is summands and a
// reader wants the sum, no copy is made: the sum replaces the summands, unless
// the value has several names or the same line reads it in another layout, too.
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

  // Returns the name of a register that holds the value in the wanted layout.
  // Writes the lines that are needed for that: the line that makes the value,
  // if it still waits, and moves from the layout from which they take the least
  // time. `is_shared` means that another operand of the line reads the value in
  // another layout, so that the value's own layout must stay. `why` is the
  // #why= of the moves.
  std::string fetch(const ShardValuePtr& value, const Layout& wanted,
                    bool is_shared, const std::string& why, LineContext& at);
  // Writes the line that makes the value, if it still waits, in the layout in
  // which it is made for a reader that wants this one.
  void create_for(const ShardValuePtr& value, const Layout& wanted,
                  LineContext& at);
  void create_operands(LineWork& work);  // likewise all that the line reads
  // Changes the value's own layout, on the same ranks, by moves. `note` is put
  // on the last of them; "" stands for no note.
  void change(const ShardValuePtr& value, const Layout& wanted,
              const std::string& why, const LineContext& at,
              const std::string& note = "");
  // Drops the copies of the value that were made for this line only
  // (at.passing).
  void drop_passing(const ShardValuePtr& value, const LineContext& at);
  void drop_passing(const LineWork& work);  // of all values that it reads
  // Writes the frees of the invented registers that are no longer needed.
  void write_frees() { writer_.write_frees(values_.take_frees()); }

  // Returns the name's value after making sure that no other name shares it, so
  // that the caller can change it.
  ShardValuePtr alone(const std::string& name);
  // To be called before a line is written that binds or frees the name. If the
  // name is the last one of its value but a waiting line will read the value, a
  // copy keeps it under an invented name. If the value's own line waits and
  // nobody will read it, that line is written if running it may fail.
  void keep_for_readers(const std::string& name, LineContext& at);
  void keep_for_readers(LineWork& work);  // of all names that it binds
  // Lets the name hold nothing. Drops the value with its last name, unless a
  // waiting line will read it.
  void unbind(const std::string& name, LineContext& at);

  // Drops the value of an invented name. Its register is freed after the line.
  void drop_invented(const std::string& name, LineContext& at);

  // Drops the value's cast to f16 or bf16 (precision.h), if it has one.
  void drop_narrow(const ShardValuePtr& value, LineContext& at);

  // Writes the lines that join chunks into the register `name`. The chunks are
  // registers that hold a value in the given layout. The result has type
  // `whole`, and the chunks are parts of its dimension at `place`. Returns the
  // layout of the result.
  Layout join(const std::vector<std::string>& chunks, const Layout& layout,
              const std::string& name, const Type& whole,
              const Chunking& chunking, const LabelDim& place,
              const LineContext& at);
  // Joins gathered chunks of the value, which have this layout, and keeps the
  // result as a copy of the value for its next reader.
  void keep_joined(const ShardValuePtr& value,
                   const std::vector<std::string>& chunks, const Layout& layout,
                   const Chunking& chunking, const LineContext& at);

  // Writes the value's waiting line for a reader that takes any layout. The
  // result is cut as the config says, or not at all.
  void create_default(const ShardValuePtr& value, LineContext& at);
  // Writes the value's waiting line although nobody will read it, if running it
  // may fail, since the failure must be seen. Otherwise does nothing. If the
  // config does not say how a created tensor is cut, it is created on one rank.
  void create_unread(const ShardValuePtr& value, LineContext& at);

 private:
  void move(const ShardValue& value, const Layout& from, const Layout& to,
            const std::string& name, const std::string& source,
            const std::string& notes, const std::string& last_note,
            const std::string& why);
  std::string name_for_gather(const ShardValuePtr& value,
                              const LineContext& at);
  Layout made_as(const ShardValuePtr& value, const Layout& wanted) const;
  Layout made_by_default(const ShardValuePtr& value) const;
  void create(const ShardValuePtr& value, const Layout& wanted,
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
