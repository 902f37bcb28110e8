// Writes lines without results: print, save and free.
#pragma once

#include <vector>

#include "shard/line_work.h"
#include "shard/materializer.h"
#include "shard/placed_writer.h"
#include "shard/waiting.h"

namespace gt::shard {

class Outputs {
 public:
  Outputs(const Cluster& cluster, const ValueTable& values,
          PlacedWriter& writer, Materializer& materializer,
          WaitingLines& waiting)
      : cluster_(cluster),
        values_(values),
        writer_(writer),
        materializer_(materializer),
        waiting_(waiting) {}

  // Writes a print or a save of the whole tensor, with its sums taken. It is
  // printed or saved from one rank that has the whole, or put together from its
  // pieces by split=.
  void write(LineWork& work);
  // Writes a free of names of the input. A name whose line still waits has no
  // register, so nothing is written for it.
  void release(const Line& line, LineContext& at);
  // Writes the lines of these loads if they still wait. A save may change the
  // files that they read.
  void create_loads(const std::vector<ShardValuePtr>& loads, LineContext& at);

 private:
  static Layout printed(const ShardValue& value);

  const Cluster& cluster_;
  const ValueTable& values_;
  PlacedWriter& writer_;
  Materializer& materializer_;
  WaitingLines& waiting_;
};

}  // namespace gt::shard
