// Tensors in files of any format: how a path of load and save names a tensor,
// and where in the file its bytes are.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stream/type.h"

namespace gt {

// The parts of a path such as "x.npy" or "model.safetensors:blocks.0.w". The
// tensor's name follows the last ".safetensors:".
struct StoredPath {
  std::string file;
  std::string tensor;           // "" for a file of one tensor
  bool in_safetensors = false;  // by the file's name
};
StoredPath split_path(std::string_view path);
// What stands between the file and the tensor of a path into a safetensors
// file.
inline constexpr std::string_view kInSafetensors = ".safetensors:";
// Returns one spelling for all paths of a file, so that a load waits for a save
// of the same file: absolute, and with the symbolic links that are there now
// followed. A tensor's name stays as it is. In a path of a file elsewhere
// (remote_files.h), only "." and double slashes are removed.
std::string normal_path(std::string_view path);
// Returns the file of a path that stands in quotes on a line, without the
// tensor's name, as normal_path() spells it.
std::string stored_file(std::string_view quoted);

// Returns the path to which one rank saves its piece when several ranks save:
// for rank 2, "w@2.npy" for "w.npy", and "m.safetensors:w@2" for
// "m.safetensors:w".
std::string path_of_rank(const std::string& path, std::string_view rank);

// A tensor's type, and what has to be known to read its bytes.
struct StoredTensor {
  Type type;
  bool fortran_order = false;  // the first index varies fastest
  bool big_endian = false;
  size_t data_offset = 0;  // bytes from the start of the file
};

class SafetensorsCache;

// Finds the tensor of the path in an open file, without moving the file's
// position, and checks that the file is long enough to hold all of it. The
// error's message begins with the file's name.
Result<StoredTensor> read_stored(int fd, const StoredPath& path,
                                 SafetensorsCache& headers);
// Does the same for a file that it opens by its name.
Result<StoredTensor> read_stored(const StoredPath& path,
                                 SafetensorsCache& headers);

// True if the path is relative and has no "..", so that it stays below the
// directory where it begins.
bool stays_below(std::string_view path);

}  // namespace gt
