// NCCL as the link between the GPUs of workers. The library is looked up when
// a link is made, as all of CUDA; without it there is peer_copies.h.
//
// Communicators are non-blocking (ncclConfig_t::blocking is 0), so each call
// returns at once, and is_done() asks how far it is.
#pragma once

#include <memory>
#include <string>

#include "exec/backend/cuda/device.h"
#include "exec/backend/cuda/entry_points.h"
#include "exec/memory/device_link.h"

namespace gt::exec::cuda {

// For a GPU, whose stream it uses; both outlive it. Errors: NCCL is not on this
// host, or too old, or was not there when the backend was built.
Result<std::unique_ptr<DeviceLink>> make_nccl_link(std::shared_ptr<Gpu> gpu,
                                                   CUstream stream);

}  // namespace gt::exec::cuda
