// The order of lines that use one file. A load must see the save before it, and
// a save must not come before a load that precedes it. On one worker lines run
// in order anyway; where the two are on several workers, a fence makes one of
// them wait for the other.
//
// A fence is a line "#fence FROM TO,... FILE" to the workers FROM and TO, whom
// it keeps in step: the workers TO go on behind it once FROM has run all lines
// before it (exec/worker/exchanges.h). PathOrder knows which workers have
// written and read each file, and says which fences must be issued before the
// next use; Sequencer::fence() issues them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"

namespace gt::route {

// The workers `to` go on once `from` has done all its earlier lines.
struct Fence {
  uint32_t from = 0;
  std::vector<uint32_t> to;
  // The file as the program spells it, by which workers know it: `from` tells
  // which of its saves to the file have failed. Left to the caller to fill in.
  std::string file;
};

class PathOrder {
 public:
  explicit PathOrder(size_t workers) : workers_(workers), rest_(workers) {}

  // The next line reads the file on these workers, or writes it on this one.
  // Adds the fences that must be issued before it, if any.
  void read(std::string_view file, const std::vector<uint32_t>& workers,
            std::vector<Fence>& fences);
  void write(std::string_view file, uint32_t worker,
             std::vector<Fence>& fences);
  size_t size() const { return files_.size(); }  // files that it knows
  // Grows with every change of what it knows. While it stays the same, lines
  // with the same files on the same workers need the same fences.
  uint64_t changes() const { return changes_; }

 private:
  // As many files are told apart; those that came first count as one then.
  static constexpr size_t kMostFiles = 1024;

  using Set = std::vector<bool>;  // by worker
  struct File {
    explicit File(size_t workers)
        : writers(workers), synced(workers), readers(workers) {}
    Set writers;  // wrote what the file holds; several only in rest_
    Set synced;   // wrote it, or have waited for all writers
    Set readers;  // have read it since it was written
    friend bool operator==(const File&, const File&) = default;
  };
  File& file(std::string_view name);

  size_t workers_;
  std::unordered_map<std::string, File, TextHash, std::equal_to<>> files_;
  std::deque<std::string> names_;  // of files_, in the order they came
  File rest_;                      // all files that were forgotten
  uint64_t changes_ = 0;
};

}  // namespace gt::route
