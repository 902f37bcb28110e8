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

#include <memory>
#include <string>
#include <vector>

#include "exec/trace/where.h"
#include "file/files.h"
#include "file/safetensors_update.h"
#include "file/tensor_bytes.h"
#include "stream/type.h"

namespace gt::exec {

class SavedFiles {
 public:
  explicit SavedFiles(const Files& files) : files_(files) {}

  // A line that saves, and why it failed, with the column of its op.
  struct Failure {
    Where where;
    std::string line;
    Error error;
    uint64_t seq = 0;  // as JobRecord's
  };
  // What was written, or was not, in one file.
  struct Written {
    std::string file;  // normal_path()
    struct Save {
      std::string path;
      uint64_t seq = 0;
    };
    std::vector<Save> saves;  // all of that file
    Status status = ok_status();
    Failure last;  // the last of their lines, with the error
  };

  // Saves a tensor, whose bytes are read now, to a path whose file is `file`,
  // as normal_path() gives it. What was written meanwhile is added to
  // `written`, perhaps of other files, whose room it needs. An error names the
  // path; then the tensor is not among what is written.
  Status save(const std::string& file, const std::string& path,
              const Type& type, const TensorBytes& bytes, const Failure& line,
              std::vector<Written>& written);
  // Writes the tensors that wait for this file; of "" all that wait.
  void write(const std::string& file, std::vector<Written>& written);
  // How long it takes to write what waits, roughly, in nanoseconds.
  uint64_t cost() const;

 private:
  static constexpr size_t kMostWaiting = 16;  // files, each with a descriptor

  struct Waiting {
    std::unique_ptr<SafetensorsUpdate> update;
    uint64_t cost = 0;
    Written to_be;
  };
  Status save_to(const std::string& file, const StoredPath& path,
                 const Type& type, const TensorBytes& bytes,
                 const Failure& line, std::vector<Written>& written);
  Written write_one(size_t i);

  const Files& files_;
  std::vector<Waiting> waiting_;
};

}  // namespace gt::exec
