// gt-shard as a call: streams in; a placed stream, or a config, out.
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
  bool explain = false;            // tell each line's choices, and the summary
  bool summary = false;            // tell what the stream is expected to cost
  ShardSay tell = [](std::string_view) {};  // gets the text of those two
};

// gt-shard --plan: reads the streams, which are one whole step of a program,
// and writes a config for so many ranks (search.h). `given` may say the machine
// and the mesh, but no entries for signals or tensors. What is wrong goes to
// `say`.
Exit plan_config(const ShardJob& job, const Config& given, int64_t ranks,
                 Writer& writer, const ShardSay& say);

// Writes the placed stream. What is wrong goes to `say`. At the end, if a line
// was rewritten and nothing was wrong, so do entries of the config that no line
// used or that cut nothing: errors (kRejected) in gt's own form, warnings in
// GT's. The status is the largest of this stage's and those that the streams
// bring.
Exit shard(const ShardJob& job, const Config& config, Writer& writer,
           const ShardSay& say);

}  // namespace gt::shard
