// SavedFiles writes the files of saves.
//
// A .npy file is written by its save. Tensors saved to one safetensors file
// wait for each other and are written together, so that a checkpoint of n
// tensors takes one new file, not n. Until then they lie in a file without a
// name. A new file replaces the old one when it is complete; on an error the
// old one stays.
//
// Used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/trace/where.h"
#include "file/files.h"
#include "file/safetensors_update.h"
#include "file/stored.h"
#include "file/tensor_bytes.h"
#include "stream/type.h"

namespace gt::exec {

class SavedFiles {
 public:
  explicit SavedFiles(const Files& files) : files_(files) {}

  // A save to a path, with its ticket (Saves).
  struct Save {
    std::string path;
    uint64_t ticket = 0;
    ShownLine line;
  };
  // The outcome of writing one file.
  struct Written {
    std::string file;         // normal_path()
    std::vector<Save> saves;  // all saves in it
    Status status = ok_status();
  };

  // Saves a tensor, whose bytes are read now, to a path in `file`, a
  // normal_path(). Files that are written by this call are added to `written`;
  // these may be others than `file`, since only so many may wait. An error
  // names the path; then the tensor is not in `written`.
  Status save(const std::string& file, const Save& save, const Type& type,
              const TensorBytes& bytes, std::vector<Written>& written);
  // Writes the tensors that wait for this file; if it is "", all that wait.
  void write(const std::string& file, std::vector<Written>& written);

 private:
  static constexpr size_t kMostWaiting = 64;  // files, each with a descriptor

  struct Waiting {
    std::unique_ptr<SafetensorsUpdate> update;
    Written to_be;
  };
  Status save_to(const std::string& file, const StoredPath& path,
                 const Save& save, const Type& type, const TensorBytes& bytes,
                 std::vector<Written>& written);
  Written write_one(size_t i);

  const Files& files_;
  std::vector<Waiting> waiting_;
};

}  // namespace gt::exec
