// The kernel of load. It serves all backends whose values have data, since it
// only deals with files.
#pragma once

#include <memory>

#include "exec/backend/kernel.h"
#include "exec/memory/device.h"
#include "exec/storage/saves.h"
#include "ops/call.h"

namespace gt::exec {

// Makes the kernel of "x = load path type row". Each run opens the file anew,
// since a save may have replaced it. Its errors: no such file, another dtype or
// shape than stated, rows beyond the end, a file cut short. `saves` and
// `device` must outlive it.
std::unique_ptr<Kernel> make_load_kernel(const Call& call, Saves& saves,
                                         Device& device);

}  // namespace gt::exec
