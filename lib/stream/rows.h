// Tab-separated rows about instructions: the log (gt-log -o, gt-route --log)
// and the trace (gt-work --trace), both described in gt-log(5). The last column
// is the rest of the line, so an instruction may have tabs in it. `cut -f7-` of
// a log, or `cut -f10-` of a trace, gives a stream again; the last word of the
// header row is a comment in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gt {

inline constexpr std::string_view kLogHeader =
    "# time\tseq\tevent\tpeer\tclient\tbytes\t# instruction";
inline constexpr std::string_view kTraceHeader =
    "# start\tend\tqueue\trank\tat\top\tbytes\tflops\tsignal\t# instruction";

struct LogRow {
  std::string_view time;  // seconds since 1970, with a fraction
  std::string_view seq;
  std::string_view event;  // "issue": the text is an instruction
  std::string_view peer;
  std::string_view client;
  std::string_view bytes;
  std::string_view text;  // the instruction, or a LogComment's text
};

struct TraceRow {
  uint64_t start = 0;  // nanoseconds since the run's start
  uint64_t end = 0;
  std::string_view worker;  // "0" of the queue "0/compute"; "" without one
  std::string_view queue;   // "compute"
  std::string_view rank;    // a rank set, or "-"
  std::string_view at;      // "model.gt:7"
  std::string_view op;
  uint64_t bytes = 0;  // of its operands and results
  double flops = 0;
  std::string_view signal;  // as noted, or "-"
  std::string_view text;    // the instruction with its notes mb, bwd and grad
};

// Read a row, whose views point into the line. Return false if the line is not
// a row.
bool parse_row(std::string_view line, LogRow& row);
bool parse_row(std::string_view line, TraceRow& row);

// Append parts of a trace row. When a line runs again, only the times and `at`
// change, so a writer keeps the rest as text. The head is what stands between
// the columns `end` and `at` (queue, rank), the tail what follows `at`, with
// LF. Both include the tabs towards those columns.
void append_head(std::string& out, const TraceRow& row);
void append_tail(std::string& out, const TraceRow& row);

// Writes the decimal digits of a value, at most kMaxDigits, and returns a
// pointer past the last digit.
inline constexpr size_t kMaxDigits = 20;
char* put_digits(char* to, uint64_t value);

}  // namespace gt
