#include "exec/worker/session.h"

#include <cerrno>
#include <cstring>
#include <deque>

#include "base/message.h"
#include "stream/source.h"

namespace gt::exec {
namespace {

class Session {
 public:
  Session(Worker& worker, const ReportSink& reports)
      : worker_(worker), reports_(reports) {}

  void read(const std::string& path) {
    file_ = &names_.emplace_back(name_of_input(path));
    lines_ = 0;
    const auto source = open_source(path, [this] { worker_.idle(); });
    if (source == nullptr) return fail(std::strerror(errno));
    read_lines(*source);
    lines_ = source->line();
  }

  Exit finish() {
    // A group of saves may lack those that did not come any more.
    const Marks& marks = worker_.marks();
    if (marks.cut_short() || marks.status() >= Exit::kLost) {
      worker_.abandon_saves(std::string(kCutSaves));
    }
    status_ = worst(status_, worker_.finish());
    // After --fail-fast or an error some input was not read, so it is not known
    // whether it was cut short.
    if (!worker_.stopped() && !has_failed_) {
      const std::string lost =
          cut_short_message(worker_.marks(), empty_pipe_ != nullptr, lines_);
      if (empty_pipe_ != nullptr) file_ = empty_pipe_;
      if (!lost.empty()) report(lost, Exit::kLost);
    }
    return worst(status_, worker_.marks().status());
  }

 private:
  void read_lines(FileSource& source) {
    std::string_view text;
    while (!worker_.stopped()) {
      switch (source.next(text)) {
        case Reader::Item::kPart:
          if (worker_.marks().drops_part(text)) break;
          [[fallthrough]];
        case Reader::Item::kLine:
          if (asks_reports(text)) file_ = &names_.emplace_back(kSharedName);
          worker_.line(text, file_, source.line());
          break;
        case Reader::Item::kTooLong:
          worker_.reject(text, std::string(kTooLongText), file_, source.line());
          break;
        case Reader::Item::kEnd:
          if (source.is_empty_pipe()) empty_pipe_ = file_;
          return;
        case Reader::Item::kError:
          return fail(std::strerror(source.errno_value()));
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
  uint64_t lines_ = 0;  // of the input that was read last
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
