// Searches for a config for a program, as gt-shard --plan does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shard/config.h"

namespace gt::shard {

struct SearchJob {
  std::vector<std::string> lines;  // one whole step, as gt-emit writes it
  int64_t ranks = 1;
  // Has the machine, and may have the mesh. Its `regather`, `chunks` and
  // `schedule` are kept.
  const Config& given;
};

// Returns a config as YAML text, with its expected costs in comments. The
// search tries meshes: all meshes of two axes dp and tp whose sizes multiply to
// the number of ranks, or only the given mesh if there is one. On each mesh it
// tries how to cut the tensors that the program creates, which it cuts in
// groups (tensor_groups.h): a group is either not cut, or cut in one of its
// first three dimensions over one or several axes. To price such a guess, the
// search runs what gt-shard would do with the step, until it costs more than
// the best guess so far. That takes at most as long as gt-shard itself. Of two
// guesses the one that exceeds the machine's memory by less is better; if
// neither exceeds it by less, the faster one is.
//
// On each mesh the search is a coordinate descent. It begins with batches cut
// over the data axis (or, if that does not fit into memory, over all axes).
// Then it takes the groups in turn and keeps each cut that improves the price,
// until no group brings an improvement. The search has no time limit. It is
// bounded by the number of groups (64), the turns of each group (3) and the
// cuts that a turn tries.
//
// Error: gt-shard rejects a line of the step. Sets `culprit` to the index of
// the line that an error is about.
Result<std::string> search_config(const SearchJob& job,
                                  std::optional<size_t>& culprit);

}  // namespace gt::shard
