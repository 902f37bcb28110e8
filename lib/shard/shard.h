// gt-shard as a call: streams in, a placed stream out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "shard/config.h"

namespace gt::shard {

using ShardSay = std::function<void(std::string_view)>;

struct ShardJob {
  std::vector<std::string> files;  // "-": standard input; none: that alone
  bool explain = false;            // each line's choices, and a summary
  bool summary = false;
  ShardSay tell = [](std::string_view) {};  // gets what those two say
};

// Reads the streams, a whole step, and writes a config for so many ranks, on
// the machine and the mesh of the one that is given.
Exit plan_config(const ShardJob& job, const Config& given, int64_t ranks,
                 Writer& writer, const ShardSay& say);

// What is wrong goes to `say`. The status is the largest of this stage's and
// those that the streams bring.
Exit shard(const ShardJob& job, const Config& config, Writer& writer,
           const ShardSay& say);

}  // namespace gt::shard
