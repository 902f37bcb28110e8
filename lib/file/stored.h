// Tensors in files, whatever the format: how a path names one, and where its
// bytes lie.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stream/type.h"

namespace gt {

// "x.npy", or "model.safetensors:blocks.0.w": the tensor's name follows the
// last ".safetensors:".
struct StoredPath {
  std::string file;
  std::string tensor;           // "" for a file of one tensor
  bool in_safetensors = false;  // by the file's name
};
StoredPath split_path(std::string_view path);
// All spellings of a file as one, for what orders paths: absolute, through the
// symbolic links that are there now. A tensor's name is taken as it is.
std::string normal_path(std::string_view path);
// The file that a path as lines have it, in quotes, is of; likewise.
std::string stored_file(std::string_view quoted);

// Where one rank of several saves: "w@2.npy" of "w.npy", and
// "m.safetensors:w@2" of "m.safetensors:w".
std::string path_of_rank(const std::string& path, std::string_view rank);

// What a reader of bytes has to know.
struct StoredTensor {
  Type type;
  bool fortran_order = false;  // the first index varies fastest
  bool big_endian = false;
  size_t data_offset = 0;  // bytes from the start of the file
};

class SafetensorsCache;

// From an open regular file, which is known to hold all of the tensor's bytes.
// Leaves the file's position alone. The error's message begins with the file.
Result<StoredTensor> read_stored(int fd, const StoredPath& path,
                                 SafetensorsCache& headers);
// The same by path.
Result<StoredTensor> read_stored(const StoredPath& path,
                                 SafetensorsCache& headers);

}  // namespace gt
