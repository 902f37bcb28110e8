#include "program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "base/message.h"
#include "base/printable.h"
#include "base/version.h"
#include "stream/marks.h"

namespace gt {

namespace {

constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kYellow = "\x1b[1;33m";
constexpr std::string_view kCyan = "\x1b[1;36m";
constexpr std::string_view kPlain = "\x1b[0m";

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

bool is_caret(std::string_view line) {
  return line.ends_with('^') && line.find_first_not_of(' ') == line.size() - 1;
}

// Colours a line of an error: its program and severity, or its caret.
std::string painted(std::string_view line) {
  std::string out(line);
  if (is_caret(line)) {
    out.insert(out.size() - 1, kRed);
    return out.append(kPlain);
  }
  const size_t end = line.find(": ");
  if (end == line.npos || !line.starts_with("gt-")) return out;
  std::string_view color = kRed;
  for (const auto& [word, its] :
       {std::pair{": warning: ", kYellow}, std::pair{": note: ", kCyan}}) {
    const size_t at = line.find(word);
    if (at == line.npos) continue;
    color = its;
    // The length of the word alone.
    const size_t size = std::string_view(word).size() - 4;
    out.insert(at + 2 + size, kPlain).insert(at + 2, color);
    break;
  }
  out.insert(end, kPlain).insert(0, color);
  return out;
}

std::string painted_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    out += painted(line);
    text.remove_prefix(line.size());
    if (text.empty()) break;
    out += '\n';
    text.remove_prefix(1);
  }
  return out;
}

// Writes a message to stderr. May be called from any thread; messages do not
// mix.
void show(std::string_view message, bool is_error) {
  if (message.empty()) return;
  static std::mutex mutex;
  // The last line is one that the next message replaces.
  static bool has_line_open = false;
  const std::lock_guard lock(mutex);
  std::string text = printable_lines(message);
  if (is_error && takes_color(STDERR_FILENO)) text = painted_lines(text);
  if (std::exchange(has_line_open, false)) text.insert(0, "\r\x1b[K");
  if (!message.ends_with('\n')) {
    has_line_open = ::isatty(STDERR_FILENO) == 1;
    if (!has_line_open) text += '\n';
  }
  write_to_stderr(text);
}

}  // namespace

void say(std::string_view message) { show(message, true); }

void tell(std::string_view message) { show(message, false); }

bool takes_color(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(fd) == 1 && (no_color == nullptr || *no_color == '\0') &&
         terminal != nullptr && std::string_view(terminal) != "dumb";
}

ProcessGuard::~ProcessGuard() { g_is_over = true; }

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

namespace {

// Returns "; did you mean '--repeat'?" for the first option that the program
// does not have.
std::string meant_option(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string& word : app.remaining()) {
    if (!word.starts_with("--")) continue;
    return did_you_mean(word.substr(0, word.find('=')), known);
  }
  return "";
}

// Rewords CLI11's "--repeat: 2 required N FILE missing" as "--repeat: expected
// N FILE", "-c: At Most 1 required but received 2" as "-c is given twice", and
// "Could not convert: -v = x" as "-v (GT_VERBOSE): 'x' is not true, false or a
// number", since the environment may have given that flag its value.
std::string worded(const CLI::App& app, std::string text) {
  constexpr std::string_view kUnread = "Could not convert: ", kIs = " = ";
  if (const size_t is = text.find(kIs);
      text.starts_with(kUnread) && is != text.npos) {
    const std::string name = text.substr(kUnread.size(), is - kUnread.size());
    const CLI::Option* option = app.get_option_no_throw(name);
    const std::string from = option ? option->get_envname() : "";
    const bool is_flag = option && option->get_expected_max() == 0;
    return name + (from.empty() ? "" : " (" + from + ")") + ": '" +
           text.substr(is + kIs.size()) + "' is not " +
           (is_flag ? "true, false or a number" : "a number");
  }
  constexpr std::string_view kAtMost = ": At Most 1 required but received ";
  if (const size_t name = text.find(kAtMost); name != text.npos) {
    const std::string times = text.substr(name + kAtMost.size());
    return text.substr(0, name) + " is given " +
           (times == "2" ? "twice" : times + " times");
  }
  constexpr std::string_view kRequired = " required ", kMissing = " missing";
  const size_t at = text.find(kRequired);
  if (at == text.npos || !text.ends_with(kMissing)) return text;
  text.resize(text.size() - kMissing.size());
  // Leaves out the choices, svg|chrome.
  text.resize(std::min(text.find(":{"), text.size()));
  const size_t count = text.rfind(' ', at - 1) + 1;
  return text.replace(count, at + kRequired.size() - count, "expected ");
}

}  // namespace

int usage_error(const std::string& program, const std::string& message) {
  say(program + ": " + message + "; try " + program + " --help\n");
  return static_cast<int>(Exit::kUsage);
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
      say(app.get_name() +
          ": cannot write standard output: " + std::strerror(errno) + "\n");
      status = static_cast<int>(Exit::kUsage);
    }
  } catch (const CLI::ParseError& e) {
    status =
        usage_error(app.get_name(), worded(app, e.what()) + meant_option(app));
  }
  return false;
}

CLI::Option* add_seconds(CLI::App& app, const std::string& name,
                         int64_t& milliseconds, double least, double most,
                         const std::string& help) {
  const auto read = [&milliseconds, least, most,
                     name](const std::string& text) {
    milliseconds =
        static_cast<int64_t>(read_option(name, text, least, most) * 1000);
  };
  return app.add_option_function<std::string>(name, read, help)
      ->type_name("SECONDS");
}

CLI::Option* add_positive(CLI::App& app, const std::string& name, double& to,
                          const std::string& help) {
  const auto read = [&to, name](const std::string& text) {
    if (!read_number(text, to) || !(to > 0) || std::isinf(to)) {
      throw CLI::ValidationError(name,
                                 "'" + text + "' is not a number above 0");
    }
  };
  return app.add_option_function<std::string>(name, read, help)->type_name("N");
}

CLI::Option* add_size(CLI::App& app, const std::string& name, size_t& bytes,
                      size_t least, const std::string& help) {
  const auto read = [&bytes, least, name](const std::string& text) {
    if (!parse_size(text, bytes) || bytes < least) {
      throw CLI::ValidationError(
          name, "'" + text + "' is not a size such as 512M or 2G");
    }
  };
  return app.add_option_function<std::string>(name, read, help)
      ->type_name("SIZE");
}

CLI::Option* add_list(CLI::App& app, const std::string& name,
                      std::vector<std::string>& to, const std::string& type,
                      const std::string& help) {
  return app.add_option(name, to, help)
      ->type_name(type)
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
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
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Error{path + ": " + std::strerror(errno)};
  return fd;
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
