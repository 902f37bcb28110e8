// .npy files as save writes them.
#pragma once

#include <string>

#include "file/files.h"
#include "file/npy.h"

namespace gt {

// Writes a row-major tensor to a new file that takes the path's place once it
// is whole. On an error the path is as it was.
Status save_npy(const Files& files, const std::string& path, const Type& type,
                const void* data);

}  // namespace gt
