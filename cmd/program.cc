#include "program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/aside.h"
#include "base/colors.h"
#include "base/message.h"
#include "base/printable.h"
#include "stream/marks.h"

namespace gt {

namespace {

void write_to_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}

bool g_is_over = false;  // main has returned

// Says what to do about the shortage; the words need no memory.
const char* remedy(int error) {
  switch (error) {
    case EMFILE:
      return "; raise the limit of open files, ulimit -n";
    case ENFILE:
      return "; the system has no more open files, see fs.file-max";
    case ENOMEM:
      return "; give it more memory (ulimit -v, the limit of its container)";
    case EAGAIN:
      return "; raise the limits of threads and memory, ulimit -u and -v";
    default:
      return "";
  }
}

[[noreturn]] void end_short(const char* what, int error) {
  char text[512];
  std::snprintf(text, sizeof text, "%s: %s%s\n", program_invocation_short_name,
                what, remedy(error));
  write_to_stderr(text);
  ::_exit(static_cast<int>(Exit::kUsage));
}

// Called when no thread has caught an exception.
[[noreturn]] void end_uncaught() {
  try {
    if (const auto thrown = std::current_exception()) {
      std::rethrow_exception(thrown);
    }
  } catch (const std::bad_alloc&) {
    end_short("out of memory", ENOMEM);
  } catch (const std::system_error& e) {
    const int error = e.code().value();
    const std::string_view what = e.what();
    // A std::thread that cannot be started says no more than this.
    end_short(
        what == std::strerror(EAGAIN) ? "cannot start a thread" : e.what(),
        error);
  } catch (const std::exception& e) {
    write_to_stderr("gt: internal error: ");
    write_to_stderr(e.what());
    write_to_stderr("\n");
  } catch (...) {
    write_to_stderr("gt: internal error: an exception of an unknown type\n");
  }
  errno = 0;
  std::abort();
}

// libzmq aborts when it is short of something; errno says of what.
void on_abort(int) {
  const int error = errno;
  for (const int shortage : {EMFILE, ENFILE, ENOMEM}) {
    if (error == shortage) end_short("a library could not go on", error);
  }
  std::signal(SIGABRT, SIG_DFL);  // abort() raises it once more
}

// libgomp exits when it cannot start a thread.
void on_exit() {
  if (!g_is_over) end_short("a library ended the program", EAGAIN);
}

std::mutex g_talks;  // held while a message is written
std::optional<Aside> g_aside;

// Has the thread write the text. Waits a moment for that, so that messages and
// results that go to one place come in order; but for so short a part of the
// time that the program goes on if the thread is held up.
void write_aside(std::string text) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kMost = size_t{1} << 20;
  constexpr auto kPatience = std::chrono::milliseconds(100);
  static size_t lost = 0;
  static Clock::time_point waits_again;
  if (g_aside->waiting() > kMost) {
    ++lost;
    return;
  }
  if (lost > 0) {
    text.insert(0, std::string(program_invocation_short_name) + ": " +
                       std::to_string(std::exchange(lost, 0)) +
                       " messages are missing here, since standard error took "
                       "none\n");
  }
  g_aside->write(text);
  const auto now = Clock::now();
  if (now < waits_again) return;
  (void)g_aside->wait(kPatience);
  const auto waited = Clock::now() - now;
  if (waited > kPatience / 10) waits_again = now + 10 * waited;
}

// Writes a message to stderr. May be called from any thread; messages do not
// mix.
void show(std::string_view message, bool is_error) {
  if (message.empty()) return;
  // The last line is one that the next message replaces.
  static bool has_line_open = false;
  const std::lock_guard lock(g_talks);
  std::string text = printable_lines(message);
  if (is_error && takes_color(STDERR_FILENO)) text = painted(text);
  if (std::exchange(has_line_open, false)) text.insert(0, "\r\x1b[K");
  if (!message.ends_with('\n')) {
    has_line_open = ::isatty(STDERR_FILENO) == 1;
    if (!has_line_open) text += '\n';
  }
  if (g_aside) return write_aside(std::move(text));
  write_to_stderr(text);
}

}  // namespace

void say(std::string_view message) { show(message, true); }

void tell(std::string_view message) { show(message, false); }

void talk_aside() {
  const std::lock_guard lock(g_talks);
  if (!g_aside) g_aside.emplace(STDERR_FILENO, Aside::Failure::kGoOn);
}

ProcessGuard::~ProcessGuard() {
  {
    const std::lock_guard lock(g_talks);
    g_aside.reset();
  }
  g_is_over = true;
}

ProcessGuard::ProcessGuard() {
  std::set_terminate(end_uncaught);
  std::signal(SIGABRT, on_abort);
  std::atexit(on_exit);
  // Writing a file beyond the size limit then fails, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // It is opened for the wrong direction, so that using it fails as if it
    // were closed.
    const int taken = ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    if (taken != fd) return;
  }
}

int usage_error(const std::string& program, const std::string& message) {
  say(program + ": " + message + "; try " + program + " --help\n");
  return static_cast<int>(Exit::kUsage);
}

int finish(std::string_view program, Writer& writer, Exit status) {
  writer.flush();
  if (!writer.ok()) {
    say(std::string(program) + ": cannot write standard output: " +
        std::strerror(writer.errno_value()) + "\n");
    status = worst(status, Exit::kUsage);
  }
  return static_cast<int>(status);
}

void write_empty_stream(Exit status) {
  if (::isatty(STDOUT_FILENO) == 1) return;
  Writer writer(STDOUT_FILENO);
  writer.write(std::string(kOpenMark) + "\n" + end_mark(status) + "\n");
  writer.flush();
}

bool is_read(const std::string& path, const std::vector<std::string>& files) {
  struct stat to {};
  if (::stat(path.c_str(), &to) != 0 || !S_ISREG(to.st_mode)) return false;
  const auto is_same = [&to](const std::string& file) {
    struct stat from {};
    const int error = file == "-" ? ::fstat(STDIN_FILENO, &from)
                                  : ::stat(file.c_str(), &from);
    return error == 0 && from.st_dev == to.st_dev && from.st_ino == to.st_ino;
  };
  return files.empty() ? is_same("-")
                       : std::any_of(files.begin(), files.end(), is_same);
}

std::string wrong_side_file(const std::string& path,
                            const std::vector<std::string>& inputs) {
  if (path == "-") {
    return "standard output is the stream of results; name a file";
  }
  return is_read(path, inputs) ? path + " is what is to be read" : "";
}

Result<int> create_side_file(const std::string& path,
                             const std::vector<std::string>& inputs) {
  const std::string wrong = wrong_side_file(path, inputs);
  if (!wrong.empty()) return Error{wrong};
  // At the end of the file, wherever that is: a log that was rotated by
  // emptying it goes on at its beginning, and not behind a hole of NUL bytes.
  const int fd = ::open(
      path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return Error{path + ": " + std::strerror(errno)};
  return fd;
}

}  // namespace gt
