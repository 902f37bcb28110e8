// PathOrder: the order of lines that use the same file. A load must see the
// save before it, and a save must not overtake a load before it. On one worker
// lines run in order anyway; if the two are on different workers, a fence makes
// one wait for the other.
//
// A fence is a line to some workers that keeps them in step
// (net/control_lines.h). PathOrder knows which workers have written and read
// each file, and says which fences must be issued before the next use;
// Sequencer::fence() issues them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "net/control_lines.h"

namespace gt::route {

class PathOrder {
 public:
  explicit PathOrder(size_t workers) : workers_(workers), rest_(workers) {}

  // read(): the next line reads the file on these workers. write(): it writes
  // the file on this worker. Both add the fences that must be issued before it;
  // the caller fills in their `file`.
  void read(std::string_view file, const std::vector<uint32_t>& workers,
            std::vector<net::FenceLine>& fences);
  void write(std::string_view file, uint32_t worker,
             std::vector<net::FenceLine>& fences);
  // Returns the worker that wrote the file's content, if it is known.
  std::optional<uint32_t> writer_of(std::string_view file) const;
  size_t size() const { return files_.size(); }  // files that it knows
  // Counts the changes of what is known. While it stays the same, lines with
  // the same files on the same workers need the same fences.
  uint64_t changes() const { return changes_; }

 private:
  // Up to this many files are told apart; older ones then count as one file.
  static constexpr size_t kMostFiles = 1024;

  using Set = std::vector<bool>;  // indexed by worker
  struct File {
    explicit File(size_t workers)
        : writers(workers), synced(workers), readers(workers) {}
    // The workers that wrote the file's content; several only in rest_.
    Set writers;
    Set synced;   // the workers that wrote it, or have waited for all writers
    Set readers;  // the workers that have read it since it was written
    friend bool operator==(const File&, const File&) = default;
  };
  File& file(std::string_view name);

  size_t workers_;
  std::unordered_map<std::string, File, TextHash, std::equal_to<>> files_;
  std::deque<std::string> names_;  // the names in files_, oldest first
  File rest_;                      // all files that were forgotten
  uint64_t changes_ = 0;
};

}  // namespace gt::route
