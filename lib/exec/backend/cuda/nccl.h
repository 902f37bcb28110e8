// NCCL as the link between the GPUs of workers. The library is looked up when a
// link is made, as all of CUDA is; where there is no NCCL, peer_copies.h serves
// instead.
//
// Communicators are non-blocking (ncclConfig_t::blocking is 0), so each call
// returns at once, and is_done() polls how far the operation has come.
#pragma once

#include <memory>
#include <string>

#include "exec/backend/cuda/device.h"
#include "exec/backend/cuda/entry_points.h"
#include "exec/memory/device_link.h"

namespace gt::exec::cuda {

// Makes a link for `gpu` that uses `stream`; the stream must outlive the link.
// Errors: NCCL is not on this host, is too old, or was not there when the
// backend was built.
Result<std::unique_ptr<DeviceLink>> make_nccl_link(std::shared_ptr<Gpu> gpu,
                                                   CUstream stream);

}  // namespace gt::exec::cuda
