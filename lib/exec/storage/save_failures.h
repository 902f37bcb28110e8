// SaveFailures remembers which saves have failed, and why: a load of a path
// whose save failed fails for the same reason, so that it does not read the old
// contents.
//
// Paths are kept as normal_path() spells them, however the caller spelled them.
// Any thread may call.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gt::exec {

class SaveFailures {
 public:
  // Notes that a save to the path has failed.
  void note(const std::string& path, const std::string& why);
  // Notes that a save to the path has succeeded.
  void forgive(const std::string& path);
  // Notes that it is not known what was saved in the file, so that all loads
  // from it fail, except those of tensors saved there later.
  void lose(const std::string& file, const std::string& why);
  // Returns why the last save to the path failed, or "".
  std::string of(const std::string& path) const;

  // in() returns the failures in a file, as bytes for another worker, whose
  // loads come behind a fence. There, take() replaces what was known about the
  // file by them.
  std::string in(const std::string& file) const;
  void take(const std::string& file, std::string_view failures);

 private:
  bool empty() const;
  void forget(const std::string& file);

  mutable std::mutex mutex_;
  // Reasons by path, of a tensor or of a lost file; "" for a tensor that was
  // saved in a lost file since.
  std::unordered_map<std::string, std::string> failed_;
};

}  // namespace gt::exec
