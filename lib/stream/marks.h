// The marks that frame a written stream: "#gt 1" opens it, "#end STATUS" closes
// it with the largest status of the stages before. A reader feeds every
// whole-line comment to a Marks and asks it at the end of input.
#pragma once

#include <string>
#include <string_view>

#include "base/exit.h"

namespace gt {

inline constexpr std::string_view kOpenMark = "#gt 1";
// Of a "#gt 2".
inline constexpr std::string_view kBadVersionText =
    "this stream is of a version that this program does not read; it reads "
    "'#gt 1'";
std::string end_mark(Exit status);  // "#end 3"

class Marks {
 public:
  // kBadVersion: "#gt 2", which this program cannot read.
  enum class Mark { kNone, kOpen, kEnd, kBadVersion };

  // Takes a comment, its text from '#' on; says which mark it is. What only
  // looks like a mark ("#end of part one") is a comment.
  Mark take(std::string_view comment);

  // A stream was opened, ended or not.
  bool opened() const { return opened_; }
  // It is open now: lines come from a program that wrote "#gt".
  bool open() const { return open_; }
  // Some stream was opened and not ended, also when another followed it.
  bool cut_short() const { return open_ || lost_; }
  // Whether a last line without LF is to be dropped: programs end each line of
  // a stream with one, so that this is the beginning of a longer line.
  bool drops_part(std::string_view line) const {
    return open_ && !line.starts_with('#');
  }
  // The largest status of the ends seen.
  Exit status() const { return status_; }

 private:
  bool opened_ = false;
  bool open_ = false;
  bool lost_ = false;
  Exit status_ = Exit::kDone;
};

// Why an input that ended after so many lines is not whole; "" if it is. A pipe
// that ends before its first byte is not: a program that wrote a stream would
// have begun with its mark.
std::string cut_short_message(const Marks& marks, bool is_empty_pipe,
                              size_t line);

}  // namespace gt
