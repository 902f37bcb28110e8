#include "file/safetensors_cache.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"

namespace gt {
Result<std::shared_ptr<const SafetensorsHeader>> SafetensorsCache::read(
    int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Error{std::strerror(errno)};
  const Key key{info.st_dev, info.st_ino, info.st_size,
                nanoseconds(info.st_ctim)};
  const auto known = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return e.key == key; });
  if (known != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, known);
    return known->header;
  }
  const int64_t begin = wall_ns();
  auto header = read_safetensors(fd);
  if (!header.ok()) return header.error();
  auto shared =
      std::make_shared<const SafetensorsHeader>(std::move(header.value()));
  if (begin - key.changed >= settled_.count()) keep({key, shared});
  return shared;
}

void SafetensorsCache::keep(Entry entry) {
  // What is known of the same file is out of date.
  const auto drop = [this](std::list<Entry>::iterator it) {
    tensors_ -= it->header->tensors.size();
    entries_.erase(it);
  };
  const auto old =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
        return e.key.device == entry.key.device &&
               e.key.inode == entry.key.inode;
      });
  if (old != entries_.end()) drop(old);
  tensors_ += entry.header->tensors.size();
  entries_.push_front(std::move(entry));
  while (entries_.size() > kMostFiles ||
         (tensors_ > kMostTensors && entries_.size() > 1)) {
    drop(std::prev(entries_.end()));
  }
}

}  // namespace gt
