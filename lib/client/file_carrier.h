// FileCarrier: copies files between a session and the cluster that it has
// joined, by a process gt-emit --carry, which is started for the first file.
// The errors are messages for people that begin with "cannot".
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/pipeline.h"

namespace gt::client {

class FileCarrier {
 public:
  // Asked while an answer is waited for: true if the cluster is gone.
  using IsLost = std::function<bool()>;

  // Sets the command: `join` is gt-emit --to and its options. Without this call
  // the workers see our files themselves, and the carrier is not needed.
  void join(Command join, IsLost is_lost);
  bool is_needed() const { return !join_.empty(); }

  // Says that the cluster's file of that name belongs to this session: it is
  // removed at the end, even if this process is killed. Error: the cluster
  // keeps no files for us.
  Status claim(std::string_view name);
  Status send(std::string_view file, std::string_view name);
  Status fetch(std::string_view name, std::string_view file);
  // The cluster's file is no longer needed, and will be removed. Does not wait.
  void forget(std::string_view name);

  // Sends no more files, and waits until the process has ended, unless the
  // cluster `is_gone`.
  void end(bool is_gone);
  // After fork(), in the child: closes the descriptors, which are those of the
  // parent's process.
  void close_in_child();

 private:
  Status start();
  Status run(const std::string& line);
  // Writes lines. Returns false if nobody reads them.
  bool write(std::string_view lines);
  Status answer();
  Status give_up();
  std::string take_forgotten();

  Command join_;
  IsLost is_lost_;
  std::mutex mutex_;  // guards the members below up to forgotten_mutex_
  Pipeline process_;
  std::string in_;  // bytes that came after the last answer
  std::mutex forgotten_mutex_;
  std::string forgotten_;  // lines that are still to be written
};

}  // namespace gt::client
