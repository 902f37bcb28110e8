// Pipeline: the processes that run a session's program. They are connected as
// in a shell's pipeline; the client starts and ends them.
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
  // Waits for the processes that were started and not waited for.
  ~Pipeline();

  // Starts the commands, each reading what the one before writes, and sets
  // lines() and results(). If `is_open`, the last one writes to our standard
  // output, and there are no results(). Error: a program cannot be started;
  // then none runs.
  // If SIGINT has its default action in this process, a terminal's interrupt
  // ends the commands as well. If the process handles SIGINT itself, they are
  // in a process group of their own and do not get it. If `is_open`, they stay
  // in our group in any case, since they belong to the shell's pipeline.
  // `errors` is their standard error.
  Status start(const std::vector<Command>& commands, bool is_open,
               int errors = 2);

  // lines() is a socket that the first program reads. results() is a pipe that
  // the last one writes, or closed.
  Fd& lines() { return lines_; }
  Fd& results() { return results_; }

  // Waits until all have ended; lines() and results() should be closed. Returns
  // the worst of their statuses; a process that was killed by a signal counts
  // as Exit::kLost. One that SIGPIPE killed, since the next one had ended, does
  // not count if another failed, which is why.
  Exit wait();
  // Returns true, and ends all processes, if one of them was stopped, as by
  // SIGSTOP, at this call and at the one before, as a shell does with a stopped
  // job.
  bool ends_stopped();
  // Ends all processes that run, and forgets them. Others may then be started.
  void stop();
  // Returns which process has ended and how, for messages: "gt-route ended with
  // status 4". Returns "" if all still run or ended with status 0.
  std::string ended();

 private:
  struct Process {
    std::string name;
    pid_t pid = -1;
    bool is_over = false;
    int status = 0;  // as waitpid() returns it
  };
  // Returns the signal that has stopped the process, or 0.
  static int stopped_by(const Process& process);

  void end_all();
  Status spawn(const Command& command, int in, int out, int errors);

  std::vector<Process> processes_;
  bool is_apart_ = false;     // the processes are in a group of their own
  bool was_stopped_ = false;  // the last ends_stopped() found one stopped
  std::string stood_still_;   // which one was stopped, and by what signal
  Fd lines_, results_;
};

// Opens /dev/null, for reading alone, for those of the descriptors 0 to 2 that
// the process was started without, so that none of ours gets such a number. To
// be called before any is opened.
void hold_standard();

// Returns the path of a program of gt: in $GT_BIN, if that is set; else beside
// the library that contains this code, or in a bin directory near it; else the
// name alone, which is searched in PATH.
std::string program_path(const std::string& name);

}  // namespace gt::client
