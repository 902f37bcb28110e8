// SavedFiles writes the files of saves.
//
// A .npy file is written by its save. The saves of one round to one safetensors
// file are a group: their tensors wait for each other, in a file without a
// name, and are written together, or, if one of them fails, not at all. So a
// file never holds tensors of two rounds, and a checkpoint of n tensors takes
// one new file, not n. A new file replaces the old one when it is complete; on
// an error the old one stays.
//
// A group ends when one of its tensors is saved again, and when the caller says
// so.
//
// Used by one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
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
  // The outcome of one save.
  struct Outcome {
    Save save;
    Status status = ok_status();
  };
  using Outcomes = std::vector<Outcome>;

  // Saves a tensor, whose bytes are read now, to a path in `file`, a
  // normal_path(). The saves that are done by this call, or have failed, are
  // added to `done`; these may be to other files, since only so many may wait.
  // An error names the path; then the save is not in `done`, and its group is
  // not going to be written.
  Status save(const std::string& file, const Save& save, const Type& type,
              const TensorBytes& bytes, Outcomes& done);
  // Notes that a save has no value, for which its group is not going to be
  // written.
  void fail(const std::string& file, const Save& save, const std::string& why,
            Outcomes& done);
  // Ends the group of this file, if there is one, and writes it; if `file` is
  // "", does so for all files.
  void write(const std::string& file, Outcomes& done);
  // Gives up all groups: their saves fail for this reason.
  void abandon(const std::string& why, Outcomes& done);

 private:
  static constexpr size_t kMostGroups = 64;  // files, each with a descriptor

  struct Group {
    std::string file;                           // normal_path()
    std::unique_ptr<SafetensorsUpdate> update;  // null if `failure` is set
    std::vector<Save> saves;
    std::set<std::string, std::less<>> tensors;  // also those that failed
    std::string failure;  // why it is not going to be written, or ""
  };
  Group& group_of(const std::string& file, const std::string& tensor,
                  Outcomes& done);
  Status add(Group& group, const StoredPath& path, const Save& save,
             const Type& type, const TensorBytes& bytes);
  static void give_up(Group& group, const std::string& why);
  void end(size_t i, Outcomes& done);

  const Files& files_;
  std::deque<Group> groups_;
};

}  // namespace gt::exec
