// Many workers in one process that compute nothing: each is attached to
// gt-route over a connection of its own, checks the numbers of all that it is
// sent, gives the room back, and answers every print with a failure that says
// so. They show what dispatching to a thousand workers is, without the
// machines.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/exit.h"
#include "exec/remote/remote_session.h"

namespace gt::exec {

// Three sockets each, of those that a process may have.
inline constexpr uint32_t kMostLightMembers = 2048;

// They are called NAME.0, NAME.1 and so on, and want the numbers from
// options.rank on. What is wrong goes to `say`, once; then Exit::kLost.
Exit run_light_members(const RemoteOptions& options, uint32_t workers,
                       const std::function<void(std::string_view)>& say);

}  // namespace gt::exec
