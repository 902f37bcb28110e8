// The marks that frame a stream which a program wrote: the line "#gt 1" opens
// it, "#end STATUS" closes it with the largest status of the stages before. A
// program that reads a stream passes every comment line to a Marks, and asks it
// at the end of input whether the stream is whole.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/exit.h"

namespace gt {

inline constexpr std::string_view kOpenMark = "#gt 1";
// The error message for a stream of another version, "#gt 2".
inline constexpr std::string_view kBadVersionText =
    "this stream is of a version that this program does not read; it reads "
    "'#gt 1'";
std::string end_mark(Exit status);  // "#end 3"

class Marks {
 public:
  // kBadVersion: "#gt 2", a stream that this program cannot read.
  enum class Mark { kNone, kOpen, kEnd, kBadVersion };

  // Takes a comment line, from its '#' on, and says which mark it is. A comment
  // that only begins like a mark ("#end of part one") is none.
  Mark take(std::string_view comment);

  // Whether any stream was opened so far, whether it has ended or not.
  bool opened() const { return opened_; }
  // Whether a stream is open now, so that the lines come from a program.
  bool open() const { return open_; }
  // Whether a stream was opened and not ended, even if another one followed it.
  bool cut_short() const { return open_ || lost_; }
  // Whether the input's last line, which has no LF (Reader::Item::kPart), is to
  // be dropped. Programs end each line of a stream with LF, so that in an open
  // stream it is the beginning of a longer line.
  bool drops_part(std::string_view line) const {
    return open_ && !line.starts_with('#');
  }
  // The largest status of the "#end" marks so far.
  Exit status() const { return status_; }

 private:
  bool opened_ = false;
  bool open_ = false;
  bool lost_ = false;
  Exit status_ = Exit::kDone;
};

// The line "#sync WORD", which is a comment to all programs but those that run
// the stream: they write it among the results, in its turn, once all lines
// before it are done and what these save is written. So whoever feeds a stream
// can know how far it is. Returns the line to be written, without its LF; "" of
// any other comment.
inline constexpr std::string_view kSyncHead = "#sync ";
std::string_view sync_of(std::string_view comment);

// In the stream of gt-emit -l a client's own "#sync WORD" is "#sync c7/.WORD".
// "#sync c7/NUMBER" is gt-emit's, behind each block of the client's lines: it
// counts what is done, and nobody removes a file when that is answered, as
// clients do. So lines that wait are not written for it.
inline constexpr char kSyncOfClient = '.';
bool counts_blocks(std::string_view sync);

// The line "#reports" asks the programs that run the stream to write what they
// have to tell people of its lines among the results, too, instead of on
// standard error: so one who feeds lines of several users can tell each of his
// own. Each message is a line
//
//     #report STATUS SPACE "TEXT"
//
// that stands before the answer to any "#sync" behind the line. SPACE is the
// outer_space() of the line, "-" if it has none. Results of lines in different
// outermost name spaces may then overtake each other, and a "#sync SPACE/WORD"
// waits for the lines of its name space alone.
inline constexpr std::string_view kReportsMark = "#reports";
bool asks_reports(std::string_view comment);

struct ReportMark {
  Exit status = Exit::kDone;
  std::string space;
  std::string text;  // whole lines
};
std::string to_string(const ReportMark& mark);  // without LF
// The report that a comment line is; nothing if it is none.
std::optional<ReportMark> report_of(std::string_view comment);

// The line "#client name=c7 user=ann ...", by which gt-emit -l says how one of
// its clients is, for those who watch the run. To all programs but gt-route it
// is a comment. Returns what stands behind the '#', a record as in
// lib/net/record.h; "" of any other comment.
std::string_view client_record_of(std::string_view comment);

// The outermost name space of the first name in a line's text that is in one:
// "c1" of "x = add c1/act/h y"; "" if none is.
std::string_view outer_space(std::string_view line);

// The error message for an input that ended after `line` lines and is not
// whole; "" if it is whole. A pipe that ends before its first byte
// (`is_empty_pipe`, base/io.h) is not whole: a program that writes a stream
// begins with the mark.
std::string cut_short_message(const Marks& marks, bool is_empty_pipe,
                              size_t line);

}  // namespace gt
