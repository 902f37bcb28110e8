#include "route/local_workers.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace gt::route {
namespace {

constexpr int kNotFound = 127;

// Returns the path of the gt-work beside this program, or else its name, for
// PATH.
std::string program() {
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  if (n > 0 && static_cast<size_t>(n) < sizeof path) {
    std::string beside(path, static_cast<size_t>(n));
    beside.resize(beside.rfind('/') + 1);
    beside += "gt-work";
    if (::access(beside.c_str(), X_OK) == 0) return beside;
  }
  return "gt-work";
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Returns the environment of worker `number` of `count`: that of this program,
// with the variables by which torchrun tells a process its number on the host.
// gt-work chooses its GPU by them.
std::vector<std::string> variables(const std::string& token, uint32_t number,
                                   uint32_t count) {
  std::vector<std::string> out = {"GT_TOKEN=" + token,
                                  "LOCAL_RANK=" + std::to_string(number),
                                  "LOCAL_WORLD_SIZE=" + std::to_string(count)};
  const size_t own = out.size();
  for (char** v = environ; *v != nullptr; ++v) {
    const std::string_view text = *v;
    const bool is_own =
        std::any_of(out.begin(), out.begin() + own, [&](const auto& set) {
          return text.starts_with(set.substr(0, set.find('=') + 1));
        });
    if (!is_own) out.emplace_back(text);
  }
  return out;
}

// Runs in the child, where only what is safe in a signal handler may be called.
[[noreturn]] void become(pid_t parent, char* const* arguments,
                         char* const* environment) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent has ended meanwhile.
  if (::getppid() != parent) ::_exit(kNotFound);
  // An interrupt from a terminal is for gt-route, which drains the run.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  const int sink = ::open("/dev/null", O_WRONLY);
  if (sink >= 0) ::dup2(sink, STDOUT_FILENO);
  if (null > STDERR_FILENO) ::close(null);
  if (sink > STDERR_FILENO) ::close(sink);
  ::execvpe(arguments[0], arguments, environment);
  ::_exit(kNotFound);
}

}  // namespace

Result<uint32_t> count_devices(const std::string& backend) {
  std::vector<std::string> words = {program(), "--backend", backend,
                                    "--list-devices"};
  const std::vector<char*> arguments = pointers(words);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return Error{"cannot start gt-work: " + std::string(std::strerror(errno))};
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(kNotFound);
  }
  const int error = errno;
  ::close(ends[1]);
  uint32_t lines = 0;
  char bytes[4096];
  for (ssize_t n = 0; pid > 0;) {
    n = ::read(ends[0], bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    lines += static_cast<uint32_t>(std::count(bytes, bytes + n, '\n'));
  }
  ::close(ends[0]);
  if (pid < 0)
    return Error{"cannot start gt-work: " + std::string(std::strerror(error))};
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) {
    return Error{"gt-work is neither beside gt-route nor in PATH"};
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? lines : 0;
}

LocalWorkers::~LocalWorkers() {
  kill_all();
  wait_all(-1);
}

Status LocalWorkers::start(uint32_t count, const LocalWorkerOptions& options) {
  const std::string path = program();
  const pid_t parent = ::getpid();
  for (uint32_t w = 0; w < count; ++w) {
    const std::string number = std::to_string(w);
    std::vector<std::string> words = {
        path,   "--connect", options.endpoint,  "--rank",
        number, "--name",    "worker-" + number};
    words.insert(words.end(), options.arguments.begin(),
                 options.arguments.end());
    std::vector<std::string> texts = variables(options.token, w, count);
    const std::vector<char*> arguments = pointers(words);
    const std::vector<char*> environment = pointers(texts);
    const pid_t pid = ::fork();
    if (pid < 0) {
      return Error{"cannot start worker " + number + ": " +
                   std::strerror(errno)};
    }
    if (pid == 0) become(parent, arguments.data(), environment.data());
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    workers_.push_back({pid, pidfd, {}});
    if (pidfd < 0 && errno != ENOSYS) {
      return Error{"cannot watch worker " + number + ": " +
                   std::strerror(errno)};
    }
  }
  return ok_status();
}

void LocalWorkers::add_to(net::Poller& poller) const {
  for (const Worker& w : workers_) {
    if (w.pidfd >= 0) poller.add_fd(w.pidfd);
  }
}

const LocalWorkers::End* LocalWorkers::see_end(size_t worker,
                                               int milliseconds) {
  Worker& w = workers_[worker];
  if (!w.end && w.pidfd >= 0) {
    pollfd p{w.pidfd, POLLIN, 0};
    if (::poll(&p, 1, milliseconds) > 0) take_end(worker);
  }
  return w.end ? &*w.end : nullptr;
}

void LocalWorkers::take_end(size_t worker) {
  Worker& w = workers_[worker];
  int status = 0;
  if (w.pid > 0 && ::waitpid(w.pid, &status, 0) == w.pid) w.pid = -1;
  if (w.pidfd >= 0) ::close(w.pidfd);
  w.pidfd = -1;
  std::string how = "worker " + std::to_string(worker) + " ";
  if (WIFSIGNALED(status)) {
    const char* name = ::sigabbrev_np(WTERMSIG(status));
    how += "was killed by signal " + std::to_string(WTERMSIG(status)) +
           (name == nullptr ? "" : " (SIG" + std::string(name) + ")");
  } else if (WEXITSTATUS(status) == kNotFound) {
    how += "could not start gt-work";
  } else {
    how += "exited with status " + std::to_string(WEXITSTATUS(status));
  }
  w.end = End{std::move(how), WIFSIGNALED(status),
              WIFEXITED(status) ? WEXITSTATUS(status) : 0, net::now_ms()};
}

void LocalWorkers::kill(size_t worker) {
  if (workers_[worker].pid > 0) ::kill(workers_[worker].pid, SIGKILL);
}

void LocalWorkers::kill_all() {
  for (size_t w = 0; w < workers_.size(); ++w) kill(w);
}

void LocalWorkers::wait_all(int milliseconds) {
  const int64_t end = net::now_ms() + milliseconds;
  for (size_t w = 0; w < workers_.size(); ++w) {
    if (workers_[w].pid <= 0) continue;
    if (milliseconds >= 0 && workers_[w].pidfd >= 0) {
      pollfd p{workers_[w].pidfd, POLLIN, 0};
      const int64_t left = end - net::now_ms();
      ::poll(&p, 1, left > 0 ? static_cast<int>(left) : 0);
      if (p.revents == 0) ::kill(workers_[w].pid, SIGKILL);
    }
    take_end(w);
  }
}

}  // namespace gt::route
