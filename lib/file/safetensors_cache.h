// Keeps the headers of safetensors files: a model of thousands of tensors is
// loaded one tensor at a time, and its header is parsed once. Not thread-safe.
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
  // The header of a file that changed less than `settled` before it was read is
  // not kept: the file could change again within one tick of its file system's
  // clock, and would look unchanged.
  explicit SafetensorsCache(
      std::chrono::nanoseconds settled = std::chrono::seconds(1))
      : settled_(settled) {}

  // Returns the header of an open file, as read_safetensors() does. A file is
  // recognised by device, inode, size and time of change, so one that was
  // changed or replaced is read anew.
  Result<std::shared_ptr<const SafetensorsHeader>> read(int fd);

 private:
  // The most files and tensors that are kept. The former is as many files as a
  // large checkpoint has. The file that was used least recently goes first.
  static constexpr size_t kMostFiles = 64;
  static constexpr size_t kMostTensors = 200'000;

  struct Key {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    int64_t changed = 0;  // when the inode changed, in ns since 1970
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::shared_ptr<const SafetensorsHeader> header;
  };
  void keep(Entry entry);

  std::chrono::nanoseconds settled_;
  std::list<Entry> entries_;  // the last used first
  size_t tensors_ = 0;        // in all entries
};

}  // namespace gt
