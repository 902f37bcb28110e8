// UserDirectory: the files of one user of a gt-emit -l.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "file/files.h"

namespace gt::serve {

// The directory of one user, DIR/USER.
class UserDirectory {
 public:
  // Error, a message for people: the user has no directory.
  static Result<UserDirectory> make(const std::string& files,
                                    const std::string& user);

  // Opens a file for reading. Errors name only the path below the directory.
  // `is_missing` is set if there is no such file.
  Result<Fd> open(const std::string& path, bool& is_missing) const;
  // Returns where the file is to be written; makes the directories above it.
  Result<Files::Target> target(const std::string& path) const;
  // Removes a file. Errors as for open().
  Status remove(const std::string& path, bool& is_missing) const;
  // Returns the bytes of all regular files in it, whoever wrote them; nothing
  // if `stop` became true meanwhile.
  std::optional<uint64_t> bytes(const std::atomic<bool>& stop) const;

 private:
  Error clean(const Error& error, const std::string& path) const;

  std::string root_;
  Files files_;
};

}  // namespace gt::serve
