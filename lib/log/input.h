// Input: what gt-log reads line by line: streams, logs and traces, which are
// told apart by their headers (stream/rows.h has the format of a log's and a
// trace's rows). It reports errors in them, and keeps the status that follows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "stream/marks.h"
#include "stream/rows.h"
#include "stream/source.h"

namespace gt::log {

using Say = std::function<void(std::string_view)>;

class Input {
 public:
  enum class Form { kStream, kLog, kTrace };
  enum class Kind { kInstruction, kComment, kMark, kHeader };

  // Reads the files in order; "-" is standard input. `on_idle` is called before
  // a read that would block.
  Input(std::vector<std::string> paths, Say say, std::function<void()> on_idle);

  // From now on a pipe that ends before its first byte is an error. Reports
  // need that; where lines are passed on, their reader finds it out.
  void refuse_empty_pipe() { refuses_empty_pipe_ = true; }

  // True if there is a file that can be read. To be called before next(). Files
  // before it that cannot be read are reported.
  bool has_file() { return source_ != nullptr || open_next(); }

  // Goes to the next line. Returns false at the end of the last file. Lines of
  // a log or a trace that are no rows are reported and skipped. A row of a log
  // may be of any event, known or not: unless the event is `issue`, its text is
  // a comment.
  bool next();

  // The following functions describe the line that next() went to, called the
  // current line; views are valid until the next call of next().
  std::string_view line() const { return line_; }  // the whole line
  std::string_view text() const { return text_; }  // instruction or comment
  Kind kind() const { return kind_; }
  Form form() const { return form_; }
  const LogRow& log_row() const { return log_row_; }
  const TraceRow& trace_row() const { return trace_row_; }

  // Returns the index of the file that the line is in, from 0.
  size_t file() const { return next_path_ - 1; }

  // Reports an error in the current line, or in the input as a whole; status()
  // is at least `status` from now on.
  void complain(const std::string& message, Exit status);
  // status() is the largest status so far, including what the streams' end
  // marks say; own_status() does not include them.
  Exit status() const { return worst(status_, marks_.status()); }
  Exit own_status() const { return status_; }

 private:
  bool open_next();
  void end_file();
  bool take(std::string_view line);
  bool take_row();

  std::vector<std::string> paths_;
  Say say_;
  std::function<void()> on_idle_;
  size_t next_path_ = 0;
  std::string name_;
  std::unique_ptr<FileSource> source_;  // null: no file is open
  uint64_t lines_ = 0;  // the number of lines that the previous file had
  Marks marks_;
  bool has_failed_ = false;  // one of the files could not be read
  bool refuses_empty_pipe_ = false;
  bool has_empty_pipe_ = false;  // one of the files was an empty pipe
  Exit status_ = Exit::kDone;
  size_t bad_rows_ = 0;

  Form form_ = Form::kStream;
  Kind kind_ = Kind::kComment;
  std::string_view line_;
  std::string_view text_;
  LogRow log_row_;
  TraceRow trace_row_;
};

}  // namespace gt::log
