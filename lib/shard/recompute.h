// What a config says of values that the backward computes again (recompute:).
// The rewrite is gt-emit's, which knows the history: a line gets the note
// #recompute= with the name of its scope, and so the lines of a scope that
// stand behind each other are a region. gt-shard, which comes behind the
// gradients, only tells if that was not done.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ops/op.h"
#include "shard/config.h"
#include "shard/line_work.h"
#include "stream/line.h"

namespace gt::shard {

// Reads a config for gt-emit, which does not know how many ranks there are.
// Returns a function that gives the value of the note that a line gets, or ""
// for none; an empty one if no entry says recompute. Errors as those of
// Config::parse().
using RegionOf = std::function<std::string(const Line&)>;
Result<RegionOf> read_regions(std::string_view text, std::string_view file,
                              std::string_view* culprit);

// Notes whether the backward can compute the line's results again, if the
// config wants it so (Config::without_notes()).
void note_recompute(const Config& config, const LineWork& work);

// Returns true if the scope wants the line's results to be computed again: an
// optimizer's and a created tensor never are.
bool is_recomputed(const Scope& scope, const Op& op);

}  // namespace gt::shard
