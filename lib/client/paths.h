// Paths: the files that lines load and save. A relative path is meant from the
// process's current directory at the time of the call, but the programs that
// run the lines stay in the directory in which they were started. On a cluster
// a path names a file there, of which nothing is known but what this session
// did to it.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "stream/type.h"

namespace gt::client {

class Paths {
 public:
  // To be called when the programs are started, in the current directory; or,
  // if `is_elsewhere`, they run on a cluster.
  void start(bool is_elsewhere);

  // Returns the path as a line must have it to mean the same file.
  std::string written(std::string_view path) const;
  // Returns the type of the tensor that a load of this path finds. `path` is
  // one that written() returned. It is the type that the session last saved
  // there, else that of a local file. Error: it is not known.
  Result<Type> type_of(const std::string& path) const;

  // Notes that a line which saves such a tensor was written.
  void note_saved(const std::string& path, const Type& type);
  // Notes that the cluster's file is the same as the local one.
  void note_same(const std::string& file);

 private:
  struct Folder {
    dev_t device = 0;
    ino_t number = 0;
    friend bool operator==(const Folder&, const Folder&) = default;
  };
  static Folder current_folder();
  std::string key(const std::string& path) const;

  bool is_elsewhere_ = false;
  Folder started_in_;
  std::unordered_map<std::string, Type> saved_;  // the saved types, by key()
  // The absolute local path, by key() of the cluster's file.
  std::unordered_map<std::string, std::string> same_;
};

// Returns the path from the root on, if it is relative to the current
// directory.
std::string absolute_path(std::string_view path);

}  // namespace gt::client
