// Copies from GPU to GPU as the link between workers of one host, for use where
// NCCL is missing or cannot link all workers: several workers may share a GPU.
//
// Each member has a staging area on its GPU, which the other members on the
// host open (cuIpcOpenMemHandle) and write to; it holds two slots for each of
// them. A value is sent in pieces of a slot's size: its owner copies a piece
// into a slot and announces it once the copy is done; the receiver copies the
// piece out and announces that. The announcements are counts of pieces in host
// memory, where each member writes its own part and reads all others
// (peer_board.h). No GPU ever waits for another process: is_done() looks at the
// counts and begins the copies that are possible by then, so a member that is
// lost or stopped leaves no work behind that cannot end.
#pragma once

#include <memory>

#include "exec/backend/cuda/device.h"
#include "exec/memory/device_link.h"

namespace gt::exec::cuda {

// Makes a link for `gpu` that uses `stream`; the stream must outlive the link.
// Errors: the memory of the GPU, or of this process, cannot be shared with
// other processes.
Result<std::unique_ptr<DeviceLink>> make_peer_copies(std::shared_ptr<Gpu> gpu,
                                                     CUstream stream);

}  // namespace gt::exec::cuda
