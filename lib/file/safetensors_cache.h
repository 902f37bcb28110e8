// Headers of safetensors files that were read before: a model of thousands of
// tensors is loaded a tensor at a time, and its header parsed once. Of one
// thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>

#include "base/result.h"
#include "file/safetensors.h"

namespace gt {

class SafetensorsCache {
 public:
  // A file that changed less than `settled` before it is read is not kept: it
  // could change once more within a tick of its file system's clock, and look
  // the same.
  explicit SafetensorsCache(
      std::chrono::nanoseconds settled = std::chrono::seconds(1))
      : settled_(settled) {}

  // As read_safetensors(). A file that changed, or another in its place, is
  // read anew.
  Result<std::shared_ptr<const SafetensorsHeader>> read(int fd);

 private:
  // As many as a large checkpoint has files; and tensors of all of them.
  static constexpr size_t kMostFiles = 64;
  static constexpr size_t kMostTensors = 200'000;

  struct Key {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    int64_t changed = 0;  // the inode, nanoseconds since 1970
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::shared_ptr<const SafetensorsHeader> header;
  };
  void keep(Entry entry);

  std::chrono::nanoseconds settled_;
  std::list<Entry> entries_;  // the last used first
  size_t tensors_ = 0;        // of all entries
};

}  // namespace gt
