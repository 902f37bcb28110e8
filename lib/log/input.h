// What gt-log reads line by line: streams, logs and traces, told apart by their
// headers. Messages about them and the status they give are kept here.
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

  // A pipe that ends before its first byte is complained of: where lines are
  // passed on, their reader learns of it.
  void refuse_empty_pipe() { refuses_empty_pipe_ = true; }

  // The next line; false at the end of all. Lines that are not what their file
  // promises are told, and left out.
  bool next();

  // Of the line at hand; views are valid until the next one.
  std::string_view line() const { return line_; }  // whole
  std::string_view text() const { return text_; }  // instruction or comment
  Kind kind() const { return kind_; }
  Form form() const { return form_; }
  const LogRow& log_row() const { return log_row_; }
  const TraceRow& trace_row() const { return trace_row_; }

  // Which of the files it is of, from 0.
  size_t file() const { return next_path_ - 1; }

  // Something is wrong with the line at hand, or with the input as a whole.
  void complain(const std::string& message, Exit status);
  // The largest status so far, of the streams' ends too; and without them.
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
  uint64_t lines_ = 0;   // of the file before
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
