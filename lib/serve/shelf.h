// The files of one user of a gt-emit -l.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "file/files.h"

namespace gt::serve {

// A directory of one user, DIR/USER.
class Shelf {
 public:
  // Error, for people: there is none of that user.
  static Result<Shelf> make(const std::string& files, const std::string& user);

  const std::string& root() const { return root_; }
  // Errors name what is below the directory alone. `is_missing`: the error is
  // that there is no such file.
  Result<Fd> open(const std::string& path, bool& is_missing) const;
  // With the directories above it, which are made.
  Result<Files::Target> target(const std::string& path) const;
  // Removes a file. Errors: as open().
  Status remove(const std::string& path, bool& is_missing) const;
  // Bytes of all regular files in it, whoever wrote them; nothing if `stop`
  // became true meanwhile.
  std::optional<uint64_t> bytes(const std::atomic<bool>& stop) const;

 private:
  Error clean(const Error& error, const std::string& path) const;

  std::string root_;
  Files files_;
};

}  // namespace gt::serve
