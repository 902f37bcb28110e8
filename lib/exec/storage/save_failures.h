// Which saves have failed, and why: a load of what was not saved fails for the
// same reason, rather than find what was there before.
//
// Paths are kept as normal_path() spells them, whichever way they came. Any
// thread.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gt::exec {

class SaveFailures {
 public:
  void note(const std::string& path, const std::string& why);
  // The path was saved.
  void forgive(const std::string& path);
  // Nobody knows what was saved in the file, so that all loads of it fail, but
  // for what is saved there later.
  void lose(const std::string& file, const std::string& why);
  // Why the last save to the path failed, or "".
  std::string of(const std::string& path) const;

  // Those of a file, as bytes for another worker, whose loads come behind a
  // fence. It takes them in place of what it knew of the file.
  std::string in(const std::string& file) const;
  void take(const std::string& file, std::string_view failures);

 private:
  bool empty() const;
  void forget(const std::string& file);

  mutable std::mutex mutex_;
  // By path: of a tensor, or of a file that was lost; "" of what was saved in
  // such a file since.
  std::unordered_map<std::string, std::string> failed_;
};

}  // namespace gt::exec
