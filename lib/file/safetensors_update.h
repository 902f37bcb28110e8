// Saves tensors to a safetensors file, which keeps its other tensors. The new
// tensors are collected in a scratch file; commit() writes a new file with all
// tensors, which replaces the old one. So many saves cost one rewrite.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "file/files.h"
#include "file/replacement.h"
#include "file/safetensors.h"
#include "file/tensor_bytes.h"

namespace gt {

class SafetensorsUpdate {
 public:
  // Prepares to save to `file`, which need not exist. Errors name it: it exists
  // and is no safetensors file, or its directory cannot be written.
  static Result<std::unique_ptr<SafetensorsUpdate>> make(
      const Files& files, const std::string& file);

  // True if a tensor of that name was added.
  bool has(std::string_view tensor) const;
  // Writes the tensor to the scratch file. Its name must not have been added
  // yet. On an error nothing is added.
  Status add(const std::string& tensor, const Type& type,
             const TensorBytes& bytes);

  // Replaces the file by one with the new tensors and the other tensors of the
  // old file. The old file is read now, since another program may have written
  // it after make(). Programs that do this in one directory wait for each
  // other, for up to a minute. If the file lies elsewhere and another program
  // writes it meanwhile, the work starts over. If commit() fails the file is as
  // it was; see Replacement::commit() for the one exception.
  Status commit(const Files& files);

 private:
  // A tensor of the new file, and where its bytes are copied from.
  struct Piece {
    SafetensorsEntry entry;
    int fd = -1;
    size_t offset = 0;
  };
  SafetensorsUpdate(std::string file, Files::Target target)
      : file_(std::move(file)), spool_(std::move(target)) {}

  Status write(Replacement& to, const Fd& old);
  Status replace(const Files& files, bool& is_overtaken);
  Error error(const std::string& why) const { return {file_ + ": " + why}; }

  std::string file_;
  Replacement spool_;   // the scratch file, with the new tensors' bytes
  size_t spooled_ = 0;  // bytes in it
  std::vector<SafetensorsEntry> entries_;  // the new tensors, placed in spool_
  std::set<std::string, std::less<>> names_;  // the new tensors' names
};

}  // namespace gt
