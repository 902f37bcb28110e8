// Lines without results: print, save and free.
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

  // A print or a save of the whole, with its sums taken: from one rank that has
  // all of it, or put together from its pieces by split=.
  void write(LineWork& work);
  // A free of names of the input. A name whose line still waits has no
  // register, and needs no free.
  void release(const Line& line, LineContext& at);
  // Writes these loads if they still wait: a save may change what they read.
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
