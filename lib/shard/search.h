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
// goes over meshes of two axes, or has the one that is given, and over how the
// tensors that the program creates are cut; each guess is priced by what
// gt-shard would write for it. Coordinate descent: from data parallelism, one
// group of tensors at a time, as long as that gains. Error: a line that
// gt-shard rejects.
Result<std::string> search_config(const SearchJob& job);

}  // namespace gt::shard
