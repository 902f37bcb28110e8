// The files that saves are written to.
//
// A .npy file is written by its save. Tensors saved to one safetensors file
// wait for each other and are written together, so that a checkpoint of n
// tensors is one new file, not n. Until then they lie in a file without a name.
// A new file takes the old one's place when it is whole; on an error the old
// one stays.
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

  // A save to a path, and its place among all saves (Saves).
  struct Save {
    std::string path;
    uint64_t ticket = 0;
    ShownLine line;
  };
  // What was written in one file, or was not.
  struct Written {
    std::string file;         // normal_path()
    std::vector<Save> saves;  // all that are in it
    Status status = ok_status();
  };

  // Saves a tensor, whose bytes are read now, to a path whose file is `file`,
  // as normal_path() gives it. What was written meanwhile is added to
  // `written`, perhaps of other files, whose room it needs. An error names the
  // path; then the tensor is not among what is written.
  Status save(const std::string& file, const Save& save, const Type& type,
              const TensorBytes& bytes, std::vector<Written>& written);
  // Writes the tensors that wait for this file; of "" all that wait.
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
