// Writes what save lines ask for, so that a load sees the saves before it.
//
// On one worker a load that comes after a save of the same path finds what was
// saved; if the save failed, the load fails, too, rather than find what was
// there before. Across workers, which see the same files, gt-route sends a
// fence between the two (Exchanges::fence()): behind it the same holds, since
// the worker that saves has then written what waits and has said what failed.
//
// A .npy file is written by its save. Tensors saved to one safetensors file
// wait for each other and are written together, so that a checkpoint of n
// tensors is one new file, not n: when one of them is loaded or saved again,
// when the queue is idle, at a fence, and before much more is computed. Until
// then they lie in a file without a name. A new file takes the old one's place
// when it is whole; on an error the old one stays.
//
// All calls come from the thread of the compute queue.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exec/trace/where.h"
#include "file/files.h"
#include "file/safetensors_cache.h"
#include "file/safetensors_update.h"
#include "stream/type.h"

namespace gt::exec {

class Saves {
 public:
  explicit Saves(Files files) : files_(std::move(files)) {}
  const Files& files() const { return files_; }
  // The headers of the files that loads have read.
  SafetensorsCache& headers() { return headers_; }

  // A line that saves, and why it failed, with the column of its op.
  struct Failure {
    Where where;
    std::string line;
    Error error;
  };

  // Saves a tensor, whose bytes at `data` are then no longer needed. Errors
  // name the path, and let the loads of it fail that come later; so does
  // fail(). An error when a file that waited is written is not told here, but
  // by settle().
  Status save(const std::string& path, const Type& type, const void* data,
              const Failure& line);
  void fail(const std::string& path, const std::string& why);
  // Nobody knows what was saved in the file, so that all loads of it fail, but
  // for what is saved there later.
  void lose(const std::string& file, const std::string& why);
  // Why the last save to the path failed, or null.
  const std::string* failure_of(const std::string& path) const;

  // Which saves to a file have failed, as bytes for another worker, whose loads
  // come behind a fence. It takes them in place of what it knew of the file.
  std::string failures_in(const std::string& file) const;
  void take_failures(const std::string& file, std::string_view failures);

  // Writes the tensors that wait for this file.
  void settle(const std::string& file);
  // Writes all that waits. Returns what has failed since the last time, one
  // failure for a file, with the line that saved to it last.
  std::vector<Failure> settle();
  bool waiting() const { return !waiting_.empty() || !failures_.empty(); }
  // How long settle() would take, roughly, in nanoseconds.
  uint64_t settle_cost() const { return settle_cost_; }

 private:
  static constexpr size_t kMostWaiting = 16;  // files, each with a descriptor

  struct Waiting {
    std::string file;
    std::unique_ptr<SafetensorsUpdate> update;
    std::vector<std::string> paths;
    Failure last;
  };
  Status save_to(const StoredPath& path, const Type& type, const void* data,
                 const Failure& line);
  void forgive(const std::string& path);  // it was saved
  void settle_one(size_t i);

  Files files_;
  SafetensorsCache headers_;
  // Why saves failed, by normal path: of a tensor, or of a file that was lost;
  // "" of what was saved in such a file since.
  std::unordered_map<std::string, std::string> failed_;
  std::vector<Waiting> waiting_;
  std::vector<Failure> failures_;
  uint64_t settle_cost_ = 0;
};

}  // namespace gt::exec
