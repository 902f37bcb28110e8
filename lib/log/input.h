// What gt-log reads line by line: streams, logs and traces, which their headers
// tell apart (stream/rows.h has the format of a log's and a trace's rows). It
// tells what is wrong with them, and keeps the status that follows.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/reader.h"
#include "stream/marks.h"
#include "stream/rows.h"

namespace gt::log {

using Say = std::function<void(std::string_view)>;

class Input {
 public:
  enum class Form { kStream, kLog, kTrace };
  enum class Kind { kInstruction, kComment, kMark, kHeader };

  // Reads the files in order, "-" is standard input. `on_idle` runs before a
  // read that would block.
  Input(std::vector<std::string> paths, Say say, std::function<void()> on_idle);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  // From here on a pipe that ends before its first byte is an error. Reports
  // want that; where lines are passed on, whoever reads those finds it out.
  void refuse_empty_pipe() { refuses_empty_pipe_ = true; }

  // Whether there is a file that can be read. To be called before next(); those
  // that come before it and cannot be read are told.
  bool has_file() { return reader_ != nullptr || open_next(); }

  // Goes to the next line; false at the end of the last file. Lines that are no
  // rows in a log or a trace are told, and left out. A row of any event is one,
  // known or not: in all but those of event `issue` the text is a comment.
  bool next();

  // The line that next() went to, which comments call the line at hand; views
  // are valid until the next one.
  std::string_view line() const { return line_; }  // whole
  std::string_view text() const { return text_; }  // instruction or comment
  Kind kind() const { return kind_; }
  Form form() const { return form_; }
  const LogRow& log_row() const { return log_row_; }
  const TraceRow& trace_row() const { return trace_row_; }

  // Which of the files it is of, from 0.
  size_t file() const { return next_path_ - 1; }

  // Tells that something is wrong with the line at hand, or with the input as a
  // whole; status() is that or worse from here on.
  void complain(const std::string& message, Exit status);
  // The largest status so far, with what the streams' end marks say; and
  // without.
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
  int fd_ = -1;
  std::unique_ptr<Reader> reader_;
  uint64_t number_ = 0;  // of the line; 0: none is at hand
  uint64_t lines_ = 0;   // how many the file before had
  Marks marks_;
  bool has_failed_ = false;  // one of the files could not be read
  bool refuses_empty_pipe_ = false;
  bool has_empty_pipe_ = false;  // one of the files was
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
