// Claims: what the notes #type=, #spec=, #partial=, #local and #unchecked of a
// line say of its results' types, for gt-check(1). On a line that has no ranks
// yet they can only be wishes. gt-shard takes them off the line, cuts the first
// result as they say where the config says nothing of it, and chooses the
// layouts as for any line; with --explain it tells where a claim did not come
// true.
#pragma once

#include <optional>
#include <string>

#include "shard/config.h"
#include "spmd/layout.h"
#include "stream/line.h"

namespace gt::shard {

// Of the line's first result.
struct Claims {
  std::string type, spec;  // "dp:S0,tp:R"; "dp+tp,-"
  bool is_empty() const { return type.empty() && spec.empty(); }
};

// Takes the five notes off the line; keeps what two of them say.
Claims take_claims(Line& line);

// The cuts that they wish for, as a config would say them; nothing if they name
// none.
std::optional<CutSetting> wished_cuts(const Claims& claims);

// Whether all that they say of axes of the mesh is so in that layout.
bool claims_hold(const Claims& claims, const Cluster& cluster,
                 const Layout& layout);

}  // namespace gt::shard
