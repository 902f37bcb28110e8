// A safetensors file with some of its tensors new.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "file/files.h"
#include "file/replacement.h"
#include "file/safetensors.h"

namespace gt {

class SafetensorsUpdate {
 public:
  // The file need not exist. Errors name it: it is there, but no safetensors
  // file; its directory cannot be written.
  static Result<std::unique_ptr<SafetensorsUpdate>> make(
      const Files& files, const std::string& file);

  bool has(std::string_view tensor) const;
  // The tensor's bytes go to disk. On an error nothing was added.
  Status add(const std::string& tensor, const Type& type, const void* data);
  // How long commit() will take longer by what was added last (the first time:
  // by what is in the file already), in nanoseconds.
  uint64_t cost_of_last() const { return cost_; }

  // Puts a file with the new tensors and the old one's others in its place: as
  // it is now, since another program may have written it. On an error the file
  // is as it was.
  Status commit(const Files& files);

 private:
  // Where an entry's bytes come from.
  struct Piece {
    SafetensorsEntry entry;
    int fd = -1;
    size_t offset = 0;
  };
  SafetensorsUpdate(std::string file, Files::Target target)
      : file_(std::move(file)), spool_(std::move(target)) {}

  Status write(Replacement& to, const Files& files);
  Error error(const std::string& why) const { return {file_ + ": " + why}; }

  std::string file_;
  Replacement spool_;  // the new tensors' bytes, one after the other
  size_t spooled_ = 0;
  std::vector<SafetensorsEntry> entries_;  // by their place in the spool
  uint64_t cost_ = 0;
  size_t old_bytes_ = 0;
};

}  // namespace gt
