// FileLooks: what is seen of the files that a client's lines name. A look may
// wait for a disk, so it is taken on a thread, and the line waits for it, while
// those of other clients go on.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "emit/saved_types.h"
#include "serve/disk_threads.h"

namespace gt::serve {

class FileLooks {
 public:
  // `files` is the client's directory, and ends with '/'. `disk` must outlive
  // the object.
  FileLooks(DiskThreads& disk, std::string files);

  // True if everything is seen of the files that the line names, if it names
  // any. False: a look is under way.
  bool is_ready(std::string_view line);
  bool is_looking() const { return pending_ != nullptr; }
  // Returns what was seen of a path on the line that was ready last.
  emit::FileLook seen(const std::string& path);

 private:
  using Seen = std::unordered_map<std::string, emit::FileLook>;

  DiskThreads& disk_;
  const std::string files_;
  // Of the thread, while there is one.
  const std::shared_ptr<SafetensorsCache> headers_;
  std::string line_;  // the line whose files are looked at
  std::shared_ptr<Pending<Seen>> pending_;
  Seen seen_;
};

}  // namespace gt::serve
