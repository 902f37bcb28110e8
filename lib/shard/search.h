// Searches for a config for a program, as gt-shard --plan does.
//
// A step may come in several forms that give the same: with more or fewer
// microbatches, with values that are computed again. For each form the search
// tries meshes: all of axes dp and tp, and if the step has layers
// (layer_chain.h) of axes pp, dp and tp, whose sizes multiply to the number of
// ranks; or only the given mesh if there is one. What is tried on a mesh are
// the cuts of the tensors that the program creates (cut_search.h), how the
// layers are divided into stages (stage_cuts.h), and if the step has
// microbatches, each kind of schedule with the placements that suit it.
//
// Not all of that can be priced in full, so a mesh goes through three stages:
// - Each mesh gets cuts that suit it and a brief price (step_price.h), which
//   adds up lines. Of a pipeline that is the price of all layers on the ranks
//   of one stage; an estimate for 1f1b is made of it, which knows the stages'
//   seconds and microbatches, but not their moves.
// - A descent over the cuts improves the first meshes and those with the best
//   estimates.
// - Those with the best estimates are priced in order, each kind of schedule by
//   itself. This price is exact: it is that of the lines that gt-shard writes,
//   by the machine's figures, with what overlaps. It alone decides.
// So what was found is good and need not be the best. The search has no time
// limit, but limits to the lines that are taken for prices. What it finds
// depends on the input and the config alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "shard/config.h"

namespace gt::shard {

// One form of a step.
struct SearchForm {
  std::string name;                // of its file
  std::vector<std::string> lines;  // one whole step, as gt-emit writes it
};

struct SearchJob {
  std::vector<SearchForm> forms;  // one or more
  int64_t ranks = 1;
  // Has the machine, and may have the mesh. Its other settings are kept.
  const Config& given;
};

// Where an error is.
struct SearchCulprit {
  size_t form = 0;
  std::optional<size_t> line;  // empty: the whole stream is wrong
};

struct FoundConfig {
  std::string yaml;     // with the expected costs in comments
  std::string weighed;  // a table of what was priced, for people
};

// Error: gt-shard rejects a line of a form. Then sets `culprit`.
Result<FoundConfig> search_config(const SearchJob& job, SearchCulprit& culprit);

}  // namespace gt::shard
