#include "client/pipeline.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "client/paths.h"

extern char** environ;

namespace gt::client {
namespace {

Error system_error(const std::string& what, int error) {
  return Error{what + ": " + std::strerror(error)};
}

// Makes a pair of connected sockets that no other program inherits.
Status make_socket(Fd& ours, Fd& theirs) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return system_error("cannot make a socket", errno);
  }
  ours = Fd(pair[0]);
  theirs = Fd(pair[1]);
  return ok_status();
}

Status make_pipe(Fd& reads, Fd& writes) {
  int pair[2];
  if (::pipe2(pair, O_CLOEXEC) != 0) {
    return system_error("cannot make a pipe", errno);
  }
  reads = Fd(pair[0]);
  writes = Fd(pair[1]);
  return ok_status();
}

bool handles_interrupts() {
  struct sigaction action {};
  return ::sigaction(SIGINT, nullptr, &action) == 0 &&
         action.sa_handler != SIG_DFL;
}

bool is_program(const std::string& path) {
  return ::access(path.c_str(), X_OK) == 0;
}

std::string described(const std::string& name, int status) {
  if (WIFSIGNALED(status)) {
    return name + " was ended by signal " + std::to_string(WTERMSIG(status));
  }
  return name + " ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

void hold_standard() {
  int fd = 0;
  while (fd >= 0 && fd <= 2) fd = ::open("/dev/null", O_RDONLY);
  if (fd > 2) ::close(fd);
}

std::string program_path(const std::string& name) {
  if (const char* folder = std::getenv("GT_BIN");
      folder != nullptr && *folder != '\0') {
    return absolute_path(std::string(folder) + "/" + name);
  }
  Dl_info info{};
  const auto* here = reinterpret_cast<const void*>(&program_path);
  if (::dladdr(here, &info) != 0 && info.dli_fname != nullptr) {
    const std::string_view path(info.dli_fname);
    const size_t slash = path.rfind('/');
    if (slash != std::string_view::npos) {
      const std::string folder(path.substr(0, slash));
      for (const char* below : {"/", "/bin/", "/../bin/", "/../../bin/"}) {
        const std::string beside = folder + below + name;
        if (is_program(beside)) return beside;
      }
    }
  }
  return name;
}

Pipeline::~Pipeline() {
  lines_ = Fd();
  results_ = Fd();
  wait();
}

Status Pipeline::start(const std::vector<Command>& commands, bool is_open,
                       int errors) {
  hold_standard();
  is_apart_ = !is_open && handles_interrupts();
  Fd in;
  Status status = make_socket(lines_, in);
  for (size_t i = 0; i < commands.size() && status.ok(); ++i) {
    const bool is_last = i + 1 == commands.size();
    Fd reads, writes;
    if (!is_last || !is_open) status = make_pipe(reads, writes);
    if (!status.ok()) break;
    status =
        spawn(commands[i], in.get(), writes.ok() ? writes.get() : 1, errors);
    in = std::move(reads);
  }
  if (!status.ok()) {
    lines_ = Fd();
    return status;
  }
  results_ = std::move(in);
  return ok_status();
}

Status Pipeline::spawn(const Command& command, int in, int out, int errors) {
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, in, 0);
  if (out != 1) ::posix_spawn_file_actions_adddup2(&actions, out, 1);
  if (errors != 2) ::posix_spawn_file_actions_adddup2(&actions, errors, 2);
  // The programs must not inherit the signal mask and SIGPIPE action of the
  // user's program.
  sigset_t signals;
  ::sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  ::sigaddset(&signals, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &signals);
  // The first process makes the group, and the others join it.
  ::posix_spawnattr_setpgroup(&attributes,
                              processes_.empty() ? 0 : processes_[0].pid);
  ::posix_spawnattr_setflags(
      &attributes,
      static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                         (is_apart_ ? POSIX_SPAWN_SETPGROUP : 0)));
  Process process{command[0].substr(command[0].rfind('/') + 1)};
  const int error = ::posix_spawnp(&process.pid, words[0], &actions,
                                   &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return system_error(
        "cannot start " + command[0] +
            " (programs of gt are looked for in $GT_BIN, beside libgt, and in "
            "$PATH)",
        error);
  }
  processes_.push_back(std::move(process));
  return ok_status();
}

Exit Pipeline::wait() {
  Exit worst_status = Exit::kDone;
  bool has_broken = false;  // one could not write to the next
  for (Process& process : processes_) {
    while (!process.is_over) {
      const pid_t ended = ::waitpid(process.pid, &process.status, 0);
      if (ended < 0 && errno == EINTR) continue;
      process.is_over = true;
      // The user's program has reaped it, as one that reaps all children does;
      // its status is unknown.
      if (ended < 0) process.status = 0;
    }
    if (WIFSIGNALED(process.status) && WTERMSIG(process.status) == SIGPIPE) {
      has_broken = true;
      continue;
    }
    worst_status =
        worst(worst_status, WIFEXITED(process.status)
                                ? static_cast<Exit>(WEXITSTATUS(process.status))
                                : Exit::kLost);
  }
  if (has_broken && worst_status == Exit::kDone) return Exit::kLost;
  return worst_status;
}

void Pipeline::stop() {
  lines_ = Fd();
  results_ = Fd();
  end_all();
  wait();
  processes_.clear();
  was_stopped_ = false;
  stood_still_.clear();
}

int Pipeline::stopped_by(const Process& process) {
  siginfo_t info{};
  const bool is_known =
      !process.is_over && ::waitid(P_PID, static_cast<id_t>(process.pid), &info,
                                   WSTOPPED | WNOHANG | WNOWAIT) == 0;
  return is_known && info.si_pid == process.pid ? info.si_status : 0;
}

bool Pipeline::ends_stopped() {
  if (!stood_still_.empty()) return true;
  std::string which;
  for (const Process& process : processes_) {
    if (const int signal = stopped_by(process); signal != 0 && which.empty()) {
      which = process.name + " was stopped by signal " + std::to_string(signal);
    }
  }
  const bool was_stopped = std::exchange(was_stopped_, !which.empty());
  if (!was_stopped || which.empty()) return false;
  stood_still_ = which;
  end_all();
  return true;
}

// A stopped process gets SIGTERM only when it continues.
void Pipeline::end_all() {
  for (const Process& process : processes_) {
    if (process.is_over) continue;
    ::kill(process.pid, SIGTERM);
    ::kill(process.pid, SIGCONT);
  }
}

std::string Pipeline::ended() {
  if (!stood_still_.empty()) return stood_still_;
  std::string out;
  for (Process& process : processes_) {
    if (!process.is_over) {
      const pid_t ended = ::waitpid(process.pid, &process.status, WNOHANG);
      process.is_over = ended == process.pid;
    }
    // The first one that failed is likely why the others ended. A process that
    // was killed by SIGPIPE, since it could no longer write, is never the
    // cause.
    const bool is_signal = WIFSIGNALED(process.status);
    const bool says_more =
        is_signal ? WTERMSIG(process.status) != SIGPIPE : out.empty();
    if (process.is_over && process.status != 0 && says_more) {
      out = described(process.name, process.status);
    }
  }
  return out;
}

}  // namespace gt::client
