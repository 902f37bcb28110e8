#include "log/input.h"

#include <cerrno>
#include <cstring>
#include <utility>

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

bool Input::open_next() {
  while (next_path_ < paths_.size()) {
    const std::string& path = paths_[next_path_++];
    name_ = name_of_input(path);
    bad_rows_ = 0;
    form_ = Form::kStream;
    source_ = open_source(path, on_idle_);
    if (source_ != nullptr) return true;
    complain(std::strerror(errno), Exit::kUsage);
  }
  return false;
}

void Input::end_file() {
  const std::unique_ptr<FileSource> ended = std::move(source_);
  lines_ = ended->line();
  has_empty_pipe_ = has_empty_pipe_ || ended->is_empty_pipe();
  if (ended->errno_value() != 0) {
    has_failed_ = true;
    complain(std::strerror(ended->errno_value()), Exit::kUsage);
  }
  if (bad_rows_ > kMaxTold) {
    complain(std::to_string(bad_rows_ - kMaxTold) + " more such lines",
             Exit::kRejected);
  }
}

bool Input::next() {
  for (;;) {
    if (source_ == nullptr && !open_next()) {
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
    const Reader::Item item = source_->next(line);
    switch (item) {
      case Reader::Item::kPart:
        if (form_ == Form::kStream && marks_.drops_part(line)) break;
        [[fallthrough]];
      case Reader::Item::kLine:
        if (take(line)) return true;
        break;
      case Reader::Item::kTooLong:
        complain(std::string(kTooLongText), Exit::kRejected);
        break;
      case Reader::Item::kError:
      case Reader::Item::kEnd:
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
  const size_t line = source_ == nullptr ? 0 : source_->line();
  say_(format_error("gt-log", {name_, line}, {message, 0}, ""));
}

}  // namespace gt::log
