#include "exec/worker/session.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>

#include "base/message.h"
#include "base/reader.h"

namespace gt::exec {
namespace {

class Session {
 public:
  Session(Worker& worker, const ReportSink& reports)
      : worker_(worker), reports_(reports) {}

  void read(const std::string& path) {
    const bool is_stdin = path == "-";
    file_ = &names_.emplace_back(is_stdin       ? std::string(kStdinName)
                                 : path.empty() ? "''"
                                                : path);
    line_ = 0;
    const Fd opened(is_stdin ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!is_stdin && !opened.ok()) return fail(std::strerror(errno));
    read_lines(is_stdin ? STDIN_FILENO : opened.get());
  }

  Exit finish() {
    status_ = worst(status_, worker_.finish());
    // After --fail-fast or an error some input was not read, so it is not known
    // whether it was cut short.
    if (!worker_.stopped() && !has_failed_) {
      const std::string lost =
          cut_short_message(worker_.marks(), empty_pipe_ != nullptr, line_);
      if (empty_pipe_ != nullptr) file_ = empty_pipe_;
      if (!lost.empty()) report(lost, Exit::kLost);
    }
    return worst(status_, worker_.marks().status());
  }

 private:
  void read_lines(int fd) {
    Reader reader(fd, [this] { worker_.idle(); });
    std::string_view text;
    while (!worker_.stopped()) {
      switch (reader.next(text)) {
        case Reader::Item::kPart:
          if (worker_.marks().drops_part(text)) {
            ++line_;
            break;
          }
          [[fallthrough]];
        case Reader::Item::kLine:
          if (asks_reports(text)) file_ = &names_.emplace_back(kSharedName);
          worker_.line(text, file_, ++line_);
          break;
        case Reader::Item::kTooLong:
          worker_.reject(text,
                         "the line is over " +
                             std::to_string(Reader::kMaxLine >> 20) + " MiB",
                         file_, ++line_);
          break;
        case Reader::Item::kEnd:
          if (reader.is_empty_pipe()) empty_pipe_ = file_;
          return;
        case Reader::Item::kError:
          return fail(std::strerror(reader.errno_value()));
      }
    }
  }

  void fail(const std::string& why) {
    worker_.idle();
    has_failed_ = true;
    report(why, Exit::kUsage);
  }

  void report(const std::string& why, Exit status) {
    const Place place{*file_, 0};
    reports_({place, status, "", format_error("gt-work", place, {why, 0}, "")});
    status_ = worst(status_, status);
  }

  Worker& worker_;
  const ReportSink& reports_;
  std::deque<std::string> names_;  // the worker refers to them
  const std::string* file_ = nullptr;
  uint64_t line_ = 0;
  // The name of an input that was an empty pipe, or null.
  const std::string* empty_pipe_ = nullptr;
  bool has_failed_ = false;  // an input could not be read
  Exit status_ = Exit::kDone;
};

}  // namespace

Exit run_session(Worker& worker, const std::vector<std::string>& paths,
                 const ReportSink& reports) {
  Session session(worker, reports);
  for (const std::string& path : paths) session.read(path);
  return session.finish();
}

}  // namespace gt::exec
