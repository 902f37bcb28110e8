// What save writes, and what load must see of it: a path orders like a name.
//
// A .npy file is written by its save. Tensors saved to one safetensors file
// wait for each other and are written together, so that a checkpoint of n
// tensors is one new file, not n: when one of them is loaded or saved again,
// when the queue is idle, and before much more is computed. Until then they lie
// in a file without a name; the old file stays as it was. Of the queue's thread
// alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exec/worker/where.h"
#include "file/files.h"
#include "file/safetensors_cache.h"
#include "file/safetensors_update.h"
#include "stream/type.h"

namespace gt::exec {

class Saves {
 public:
  explicit Saves(Files files) : files_(std::move(files)) {}
  const Files& files() const { return files_; }
  // Of the files that loads read.
  SafetensorsCache& headers() { return headers_; }

  // A line that saves, and why it failed, with the column of its op.
  struct Failure {
    Where where;
    std::string line;
    Error error;
  };

  // Errors name the path, and fail the loads of it that come later, so that
  // they do not find what was there before. So does fail().
  Status save(const std::string& path, const Type& type, const void* data,
              const Failure& line);
  void fail(const std::string& path, const std::string& why);
  // Nobody knows what was saved in the file, so that all loads of it fail, but
  // for what is saved there later.
  void lose(const std::string& file, const std::string& why);
  // Why the last save to the path failed, or null.
  const std::string* failure_of(const std::string& path) const;

  // What failed in a file, so that another worker knows it: its loads wait for
  // our saves. It takes that in place of what it knew.
  std::string failures_in(const std::string& file) const;
  void take_failures(const std::string& file, std::string_view failures);

  // Writes what waits for this file.
  void settle(const std::string& file);
  // Writes all that waits. Returns the failures since the last time, one for a
  // file, by its last line.
  std::vector<Failure> settle();
  bool waiting() const { return !waiting_.empty() || !failures_.empty(); }
  // The time that it takes, roughly, in nanoseconds.
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
