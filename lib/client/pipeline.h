// The processes that run a session's program: a shell's pipeline, which the
// client starts and ends.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/exit.h"
#include "base/result.h"
#include "file/files.h"

namespace gt::client {

// One program and its arguments.
using Command = std::vector<std::string>;

class Pipeline {
 public:
  Pipeline() = default;
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  // What was started and not waited for is waited for.
  ~Pipeline();

  // Starts them, each reading what the one before writes, and sets lines() and
  // results(). The last one's output is our standard output if `is_open`, else
  // results(). Error: a program cannot be started; then none runs.
  // An interrupt from the terminal ends them as it ends us, unless we do
  // something else on SIGINT: then it is for us alone, and they are in a
  // process group of their own. Those of a stream that is open are the shell's.
  Status start(const std::vector<Command>& commands, bool is_open);

  // A socket that the first program reads; a pipe that the last one writes, or
  // none.
  Fd& lines() { return lines_; }
  Fd& results() { return results_; }

  // Waits until all have ended; both ends should be closed. The worst of their
  // statuses; one that a signal killed is lost.
  Exit wait();
  // Whether one of them was stopped, as by SIGSTOP, and still was at the next
  // call: then all are ended, as a shell ends a job that is stopped.
  bool ends_stopped();
  // Ends all that run, and forgets them; others may then be started.
  void stop();
  // What of it has ended with what, for messages: "gt-route ended with status
  // 4". Empty if all run.
  std::string ended();

 private:
  struct Process {
    std::string name;
    pid_t pid = -1;
    bool is_over = false;
    int status = 0;  // as waitpid() gives it
  };
  // The signal that has stopped it, or 0.
  static int stopped_by(const Process& process);

  void end_all();
  Status spawn(const Command& command, int in, int out);

  std::vector<Process> processes_;
  bool is_apart_ = false;     // in a process group of their own
  bool was_stopped_ = false;  // one was, as ends_stopped() found last
  std::string stood_still_;   // which of them, and by what
  Fd lines_, results_;
};

// The path of a program of gt: beside the library that this code is in, in its
// ../bin, or else the name alone, for PATH. $GT_BIN, a directory, comes first.
std::string program_path(const std::string& name);

}  // namespace gt::client
