#include "program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "base/version.h"
#include "stream/marks.h"

namespace gt {

void say(std::string_view message) {
  while (!message.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, message.data(), message.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    message.remove_prefix(static_cast<size_t>(n));
  }
}

void guard_process() {
  // A file beyond the limit on sizes cannot be written, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // Opened the wrong way round, so that using it fails as if closed.
    const int taken = ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    if (taken != fd) return;
  }
}

bool parse_options(CLI::App& app, int argc, char** argv, int& status) {
  app.set_version_flag("--version",
                       app.get_name() + " " + std::string(kVersion));
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& e) {  // --help, --version
    status = app.exit(e) == 0 ? 0 : static_cast<int>(Exit::kUsage);
    if (std::fflush(stdout) != 0 || !std::cout.flush()) {
      status = static_cast<int>(Exit::kUsage);
    }
  } catch (const CLI::ParseError& e) {
    say(app.get_name() + ": " + e.what() + "; try " + app.get_name() +
        " --help\n");
    status = static_cast<int>(Exit::kUsage);
  }
  return false;
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

bool parse_size(std::string_view text, size_t& bytes) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{}) return false;
  const std::string_view unit(end, text.data() + text.size());
  size_t shift = 0;
  if (unit == "k" || unit == "K") {
    shift = 10;
  } else if (unit == "M") {
    shift = 20;
  } else if (unit == "G") {
    shift = 30;
  } else if (!unit.empty()) {
    return false;
  }
  if (bytes > (SIZE_MAX >> shift)) return false;
  bytes <<= shift;
  return true;
}

}  // namespace gt
