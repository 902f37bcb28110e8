// Claims are what the notes #type=, #spec=, #partial=, #local and #unchecked of
// a line say about the types of its results, for gt-check(1). On a line that
// has no ranks yet, claims can only be wishes. gt-shard takes these notes off
// the line. If the config does not say how the line's first result is cut, it
// is cut as the claims say; apart from that, layouts are chosen as for any
// line. With --explain gt-shard says if the result is not as claimed.
#pragma once

#include <optional>
#include <string>

#include "shard/config.h"
#include "spmd/layout.h"
#include "stream/line.h"

namespace gt::shard {

// The claims about a line's first result. Each is "" if there is none.
struct Claims {
  std::string type, spec;  // such as "dp:S0,tp:R"; such as "dp+tp,-"
  bool is_empty() const { return type.empty() && spec.empty(); }
};

// Takes the five kinds of notes off the line, and returns what #type= and
// #spec= say about its first result.
Claims take_claims(Line& line);

// Returns the cuts that the claims ask for, in the form in which a config would
// have them, or nothing if they name no cut.
std::optional<CutSetting> wished_cuts(const Claims& claims);

// Returns true if everything that the claims say about axes of the mesh is true
// of the layout.
bool claims_hold(const Claims& claims, const Cluster& cluster,
                 const Layout& layout);

}  // namespace gt::shard
