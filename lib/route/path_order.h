// A path orders like a name, also when the workers that save and load it are
// several: then a fence makes one of them wait for another.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace gt::route {

// `to` go on once `from` has done all its earlier lines.
struct Fence {
  uint32_t from = 0;
  std::vector<uint32_t> to;
  // For which it is, as whoever asked spells it: they then know what failed in
  // it.
  std::string file;
};

class PathOrder {
 public:
  explicit PathOrder(size_t workers) : workers_(workers), rest_(workers) {}

  // A file is read or written by these workers. Adds the fences that must come
  // before that.
  void read(std::string_view file, const std::vector<uint32_t>& workers,
            std::vector<Fence>& fences);
  void write(std::string_view file, uint32_t worker,
             std::vector<Fence>& fences);
  size_t size() const { return files_.size(); }
  // Grows whenever what later fences depend on is other than it was.
  uint64_t changes() const { return changes_; }

 private:
  // So many files are told apart; the rest count as one.
  static constexpr size_t kMostFiles = 1024;

  using Set = std::vector<bool>;  // by worker
  struct File {
    explicit File(size_t workers)
        : writers(workers), synced(workers), readers(workers) {}
    Set writers;
    Set synced;   // have waited for all writers
    Set readers;  // since it was written
    friend bool operator==(const File&, const File&) = default;
  };
  File& file(std::string_view name);

  size_t workers_;
  std::unordered_map<std::string, File, TextHash, std::equal_to<>> files_;
  std::deque<std::string> names_;  // oldest first
  File rest_;
  uint64_t changes_ = 0;
};

}  // namespace gt::route
