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

  // True if any stream was opened so far, whether it has ended or not.
  bool opened() const { return opened_; }
  // True if a stream is open now, so that the lines come from a program.
  bool open() const { return open_; }
  // True if a stream was opened and not ended, even if another one followed it.
  bool cut_short() const { return open_ || lost_; }
  // True if the input's last line, which has no LF (Reader::Item::kPart), must
  // be dropped. Programs end each line of a stream with LF, so in an open
  // stream such a line is the beginning of a longer one.
  bool drops_part(std::string_view line) const {
    return open_ && !line.starts_with('#');
  }
  // Returns the largest status of the "#end" marks so far.
  Exit status() const { return status_; }

 private:
  bool opened_ = false;
  bool open_ = false;
  bool lost_ = false;
  Exit status_ = Exit::kDone;
};

// The line "#sync WORD" lets whoever feeds a stream know how far it has got.
// The programs that run the stream write the line among the results, in its
// turn, once all lines before it are done and the files that these save are
// written; to all other programs it is a comment. sync_of() returns the line to
// write, without its LF, or "" if the comment is not such a line.
inline constexpr std::string_view kSyncHead = "#sync ";
std::string_view sync_of(std::string_view comment);

// In the stream of gt-emit -l, a client's own "#sync WORD" becomes "#sync
// c7/.WORD". gt-emit writes a "#sync c7/NUMBER" of its own behind each block of
// the client's lines, to count what is done. counts_blocks() is true for the
// latter kind. A client may remove a file when its own sync is answered, so
// lines that gt holds back (loads) are written before it; nobody does so at a
// sync that counts, so they are not written for that.
inline constexpr char kSyncOfClient = '.';
bool counts_blocks(std::string_view sync);

// The lines "#saves begin" and "#saves end" frame saves of which all are done
// or none, even if whoever writes the program is killed in between: gt-emit
// keeps them back until the second one has come (emit/held_saves.h).
inline constexpr std::string_view kSavesBegin = "#saves begin";
inline constexpr std::string_view kSavesEnd = "#saves end";
// True if the comment is the mark, whatever notes stand behind it.
bool is_saves_mark(std::string_view comment, std::string_view mark);

// The line "#reports" asks the programs that run the stream to write their
// messages about its lines among the results instead of on standard error. So a
// program that feeds lines of several users can give each of them the messages
// about his own. Each message is a line
//
//     #report STATUS SPACE "TEXT"
//
// that stands before the answer to any "#sync" behind the line. SPACE is the
// outer_space() of the line, or "-" if it has none. Results of lines in
// different outermost name spaces may then overtake each other, and a "#sync
// SPACE/WORD" waits for the lines of its name space alone.
inline constexpr std::string_view kReportsMark = "#reports";
bool asks_reports(std::string_view comment);

struct ReportMark {
  Exit status = Exit::kDone;
  std::string space;
  std::string text;  // whole lines
};
std::string to_string(const ReportMark& mark);  // without LF
// Returns the report that a comment line is; nothing if it is none.
std::optional<ReportMark> report_of(std::string_view comment);

// The line "#client name=c7 user=ann ..." is how gt-emit -l describes the state
// of one of its clients to those who watch the run. To all programs but
// gt-route it is a comment. client_record_of() returns what stands behind the
// '#', a record as in lib/net/record.h, or "" for any other comment.
std::string_view client_record_of(std::string_view comment);

// Returns the outermost name space of the first name in a line's text that is
// in one: "c1" for "x = add c1/act/h y"; "" if no name is in one.
std::string_view outer_space(std::string_view line);

// Returns the error message for an input that ended after `line` lines and is
// not whole; "" if it is whole. A pipe that ends before its first byte
// (`is_empty_pipe`, base/io.h) is not whole: a program that writes a stream
// begins with the mark.
std::string cut_short_message(const Marks& marks, bool is_empty_pipe,
                              size_t line);

}  // namespace gt
