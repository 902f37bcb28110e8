#include "log/input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/message.h"

namespace gt::log {
namespace {

// How many malformed rows are reported one by one.
constexpr size_t kMaxTold = 3;

}  // namespace

Input::Input(std::vector<std::string> paths, Say say,
             std::function<void()> on_idle)
    : paths_(std::move(paths)),
      say_(std::move(say)),
      on_idle_(std::move(on_idle)) {
  if (paths_.empty()) paths_.push_back("-");
}

Input::~Input() {
  if (fd_ > STDIN_FILENO) ::close(fd_);
}

bool Input::open_next() {
  while (next_path_ < paths_.size()) {
    const std::string& path = paths_[next_path_++];
    const bool is_stdin = path == "-";
    name_ = is_stdin ? "<stdin>" : path;
    number_ = 0;
    bad_rows_ = 0;
    form_ = Form::kStream;
    fd_ = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ >= 0) {
      reader_ = std::make_unique<Reader>(fd_, on_idle_);
      return true;
    }
    complain(std::strerror(errno), Exit::kUsage);
  }
  return false;
}

void Input::end_file() {
  lines_ = number_;
  number_ = 0;
  if (bad_rows_ > kMaxTold) {
    complain(std::to_string(bad_rows_ - kMaxTold) + " more such lines",
             Exit::kRejected);
  }
  if (fd_ > STDIN_FILENO) ::close(fd_);
  fd_ = -1;
  reader_.reset();
}

bool Input::next() {
  for (;;) {
    if (reader_ == nullptr && !open_next()) {
      const std::string lost = cut_short_message(
          marks_, refuses_empty_pipe_ && has_empty_pipe_, lines_);
      if (!lost.empty() && !has_failed_) {
        complain(lost, Exit::kLost);
        status_ = status();
        marks_ = Marks();  // reported once
        has_empty_pipe_ = false;
      }
      return false;
    }
    std::string_view line;
    const Reader::Item item = reader_->next(line);
    switch (item) {
      case Reader::Item::kPart:
        if (form_ == Form::kStream && marks_.drops_part(line)) {
          ++number_;
          break;
        }
        [[fallthrough]];
      case Reader::Item::kLine:
        ++number_;
        if (take(line)) return true;
        break;
      case Reader::Item::kTooLong:
        ++number_;
        complain("the line is over " + std::to_string(Reader::kMaxLine >> 20) +
                     " MiB",
                 Exit::kRejected);
        break;
      case Reader::Item::kError:
        number_ = 0;
        has_failed_ = true;
        complain(std::strerror(reader_->errno_value()), Exit::kUsage);
        end_file();
        break;
      case Reader::Item::kEnd:
        has_empty_pipe_ = has_empty_pipe_ || reader_->is_empty_pipe();
        end_file();
    }
  }
}

bool Input::take(std::string_view line) {
  line_ = line;
  kind_ = Kind::kHeader;
  if (line == kLogHeader) {
    form_ = Form::kLog;
    return true;
  }
  if (line == kTraceHeader) {
    form_ = Form::kTrace;
    return true;
  }
  text_ = line;
  if (form_ != Form::kStream && !take_row()) {
    if (++bad_rows_ <= kMaxTold) {
      complain(
          form_ == Form::kLog ? "not a row of a log" : "not a row of a trace",
          Exit::kRejected);
    }
    return false;
  }
  const size_t first = text_.find_first_not_of(" \t");
  kind_ = Kind::kInstruction;
  if (first == std::string_view::npos || text_[first] == '#') {
    kind_ = Kind::kComment;
    if (first == 0 && marks_.take(text_) != Marks::Mark::kNone) {
      kind_ = Kind::kMark;
    }
  }
  return true;
}

bool Input::take_row() {
  if (form_ == Form::kLog) {
    if (!parse_row(line_, log_row_)) return false;
    text_ = log_row_.text;
  } else {
    if (!parse_row(line_, trace_row_)) return false;
    text_ = trace_row_.text;
  }
  return true;
}

void Input::complain(const std::string& message, Exit status) {
  status_ = worst(status_, status);
  say_(format_error("gt-log", {name_, number_}, {message, 0}, ""));
}

}  // namespace gt::log
