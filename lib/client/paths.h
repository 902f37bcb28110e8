// The files that lines load and save. A relative path is meant from the folder
// that the process is in when it makes the call, and the programs that run the
// lines stay in the one that they were started in. On a cluster a path is that
// of a file there, of which nothing is known but what this session did to it.
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
  // The programs start now, in the current folder; or they run elsewhere.
  void start(bool is_elsewhere);

  // A path as a line is to have it.
  std::string written(std::string_view path) const;
  // The type of the tensor that a load of a path as written finds: what the
  // session last saved there, else what a file here has. Error: it is not
  // known.
  Result<Type> type_of(const std::string& path) const;

  // A line that saves such a tensor was written.
  void note_saved(const std::string& path, const Type& type);
  // The file of the cluster is the same as the one here.
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
  std::unordered_map<std::string, Type> saved_;  // by key()
  // The absolute path here, by key() of the file there.
  std::unordered_map<std::string, std::string> same_;
};

// The path from the root on, if it is relative to the current folder.
std::string absolute_path(std::string_view path);

}  // namespace gt::client
