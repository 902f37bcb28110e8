// Writes .npy files, for the op save.
#pragma once

#include <string>

#include "file/files.h"
#include "file/npy.h"
#include "file/tensor_bytes.h"

namespace gt {

// Writes a row-major tensor to a new file, which replaces the one at the path
// when it is whole. If writing fails the old file is untouched; see
// Replacement::commit() for the one exception. An open file that has no name
// (Files::open_nameless) is written where it lies.
Status save_npy(const Files& files, const std::string& path, const Type& type,
                const TensorBytes& bytes);

}  // namespace gt
