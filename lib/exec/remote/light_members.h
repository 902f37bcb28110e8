// Light members are many workers in one process that compute nothing. Each is
// attached to gt-route over its own connection, checks that the lines it is
// sent continue where the last ended, gives the credit back, and answers every
// print of its ranks with a failure that says so. They show what it takes to
// dispatch to a thousand workers, without the machines.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/exit.h"
#include "exec/remote/remote_session.h"

namespace gt::exec {

// The limit comes from the sockets that a process may have: each member takes
// three.
inline constexpr uint32_t kMostLightMembers = 2048;

// Attaches `workers` light members and runs them until gt-route has no more
// lines. They are named NAME.0, NAME.1 and so on, and ask for the numbers from
// options.rank on. An error is passed to `say`, once, and the result is then
// not Exit::kDone.
Exit run_light_members(const RemoteOptions& options, uint32_t workers,
                       const std::function<void(std::string_view)>& say);

}  // namespace gt::exec
