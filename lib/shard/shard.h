// The program gt-shard as function calls: they read streams and write a placed
// stream, or a config.
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
  std::vector<std::string> files;  // "-", or no files: standard input
  bool explain = false;            // tell choices for lines, and the summary;
                                   // of plan_config(), what was weighed
  bool summary = false;            // tell the expected costs of the stream
  ShardSay tell = [](std::string_view) {};  // gets this text
};

// Does what gt-shard --plan does: reads the streams, each of which must be one
// whole step of a program, and all the same step in several forms, and writes a
// config for `ranks` ranks and the best of them (search.h). `given`
// may have the machine and the mesh, but no entries for signals or tensors.
// Errors are passed to `say`.
Exit plan_config(const ShardJob& job, const Config& given, int64_t ranks,
                 Writer& writer, const ShardSay& say);

// Writes the placed stream. Errors are passed to `say`. At the end, if a line
// was rewritten and nothing was wrong, so are messages about entries of the
// config that no line used or that cut nothing. In gt's own form these are
// errors (kRejected), in GT's they are warnings. Returns the worst status of
// this stage and of those that the streams report.
Exit shard(const ShardJob& job, const Config& config, Writer& writer,
           const ShardSay& say);

}  // namespace gt::shard
