// Lines without results: what is printed and saved, and names that end.
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

  // Prints or saves the whole.
  void write(LineWork& work);
  void release(const Line& line, LineContext& at);
  // Loads wait no more for their first use.
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
