// Finds a config for a program: gt-shard --plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shard/config.h"

namespace gt::shard {

struct SearchJob {
  std::vector<std::string> lines;  // of one whole step, as gt-emit writes it
  int64_t ranks = 1;
  const Config& given;  // the machine, and at times the mesh
};

// The config as YAML, with what it is expected to cost in comments. The search
// goes over meshes, namely all of two axes dp and tp whose sizes multiply to
// the ranks, or the one that is given; and over how the tensors that the
// program creates are cut, in groups (tensor_groups.h): not at all, or one of
// their first three dimensions over one axis or several. Each guess is priced
// by what gt-shard would write for the step, which takes about as long as to
// shard it. Memory beyond the machine's counts before time.
//
// On each mesh it is a coordinate descent. It begins with batches cut over the
// data axis (or, where that does not fit into memory, over all axes), and then
// takes the groups in turn and keeps a cut that gains, until no group gains any
// more. No clock bounds its time; the number of groups (24), of turns of each
// group (3) and of cuts to try in a turn do.
//
// Error: a line that gt-shard rejects.
Result<std::string> search_config(const SearchJob& job);

}  // namespace gt::shard
