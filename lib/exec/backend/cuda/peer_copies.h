// Copies from GPU to GPU as the link between workers of one host, for where
// NCCL is not, or not for all of them: several workers may share a GPU.
//
// Each member has a staging area on its GPU, which the others of the host open
// (cuIpcOpenMemHandle) and write to; it holds two slots for each of them. A
// value goes in pieces of a slot's size: its owner copies a piece into a slot,
// says so once the copy is done, and the receiver copies it out, and says so.
// What they say are counts of pieces in memory of the host that all of them
// read and each writes its own part of. No GPU ever waits for another process:
// is_done() looks at the counts and begins what is possible by now, so a member
// that is lost or stopped leaves nothing that cannot end.
#pragma once

#include <memory>

#include "exec/backend/cuda/device.h"
#include "exec/memory/device_link.h"

namespace gt::exec::cuda {

// For a GPU, whose stream it uses; both outlive it. Errors: the GPU's memory,
// or this process's, cannot be shown to others.
Result<std::unique_ptr<DeviceLink>> make_peer_copies(std::shared_ptr<Gpu> gpu,
                                                     CUstream stream);

}  // namespace gt::exec::cuda
