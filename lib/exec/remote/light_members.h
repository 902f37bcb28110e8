// Light members: many workers in one process that compute nothing. Each is
// attached to gt-route over a connection of its own, checks that the lines
// which it is sent go on where the last ended, gives the room back, and answers
// every print of its ranks with a failure that says so. They show what it takes
// to dispatch to a thousand workers, without the machines.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/exit.h"
#include "exec/remote/remote_session.h"

namespace gt::exec {

// Three sockets each, of those that a process may have.
inline constexpr uint32_t kMostLightMembers = 2048;

// Attaches `workers` light members and runs them until gt-route has no more.
// They are called NAME.0, NAME.1 and so on, and want the numbers from
// options.rank on. What is wrong goes to `say`, once; then Exit::kLost.
Exit run_light_members(const RemoteOptions& options, uint32_t workers,
                       const std::function<void(std::string_view)>& say);

}  // namespace gt::exec
