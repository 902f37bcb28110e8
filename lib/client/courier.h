// Files between a session and the cluster that it has joined: they are carried
// by a gt-emit --carry, which is started when the first one travels. Errors are
// for people, and begin with "cannot".
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/pipeline.h"

namespace gt::client {

class Courier {
 public:
  // Whether the cluster is gone, which is asked while an answer is waited for.
  using IsLost = std::function<bool()>;

  // `join`: gt-emit --to and its options. If this is not called, the workers
  // see our files themselves, and nothing is to be carried.
  void join(Command join, IsLost is_lost);
  bool is_needed() const { return !join_.empty(); }

  // A file of that name there is ours alone: at the end it is removed, also if
  // we are killed. Error: the cluster keeps no files for us.
  Status claim(std::string_view name);
  Status send(std::string_view file, std::string_view name);
  Status fetch(std::string_view name, std::string_view file);
  // The file there is no longer needed. Does not wait.
  void forget(std::string_view name);

  // No more files; waits until it has ended, unless the cluster `is_gone`.
  void end(bool is_gone);
  // After fork(), in the child.
  void let_go();

 private:
  Status start();
  Status run(const std::string& line);
  // Writes lines; false if nobody reads them.
  bool write(std::string_view lines);
  Status answer();
  Status give_up();
  std::string take_forgotten();

  Command join_;
  IsLost is_lost_;
  std::mutex mutex_;  // of what follows, but for what is forgotten
  Pipeline process_;
  std::string in_;  // what came behind the last answer
  std::mutex forgotten_mutex_;
  std::string forgotten_;  // lines that are still to be written
};

}  // namespace gt::client
