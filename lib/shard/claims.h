// What notes say of types: #type=, #spec= and others for gt-check(1). Of a line
// that has no ranks yet they are wishes, and what comes of the line is found
// anew.
#pragma once

#include <optional>
#include <string>

#include "shard/config.h"
#include "spmd/layout.h"
#include "stream/line.h"

namespace gt::shard {

struct Claims {
  std::string type, spec;  // "dp:S0,tp:R"; "dp+tp,-"
  bool is_empty() const { return type.empty() && spec.empty(); }
};

// Takes such notes off the line.
Claims take_claims(Line& line);

// The cuts among them, as a config says them; none: nothing is to be cut.
std::optional<CutSetting> wished_cuts(const Claims& claims);

// Whether what they say of the mesh's axes is so.
bool claims_hold(const Claims& claims, const Cluster& cluster,
                 const Layout& layout);

}  // namespace gt::shard
