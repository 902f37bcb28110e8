// Tab-separated rows about instructions: the log (gt-log -o) and the trace
// (gt-work --trace). gt-log(5) describes both. The last column is the rest of
// the line, so an instruction keeps tabs of its own, and `cut -f7-` or
// `cut -f10-` gives lines of the stream again: the header's last word is a
// comment to them.
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
  std::string_view event;  // "issue": an instruction
  std::string_view peer;
  std::string_view client;
  std::string_view bytes;
  std::string_view text;  // the instruction, or a comment
};

struct TraceRow {
  uint64_t start = 0;  // nanoseconds since the run's start
  uint64_t end = 0;
  std::string_view worker;  // of a run, whose queues are "0/compute"; else ""
  std::string_view queue;   // "compute"
  std::string_view rank;    // a rank set, or "-"
  std::string_view at;      // "model.gt:7"
  std::string_view op;
  uint64_t bytes = 0;  // of its operands and results
  double flops = 0;
  std::string_view signal;  // as noted, or "-"
  std::string_view text;    // without its notes
};

// False if the line is not such a row.
bool parse_row(std::string_view line, LogRow& row);
bool parse_row(std::string_view line, TraceRow& row);

// A row in parts, for writers that make most of it once. The head is what
// stands between the end and `at`, the tail what follows `at`, LF included;
// both have the tabs that set them off.
void append_head(std::string& out, const TraceRow& row);
void append_tail(std::string& out, const TraceRow& row);

// Writes decimal digits, and returns where they end.
inline constexpr size_t kMaxDigits = 20;
char* put_digits(char* to, uint64_t value);

}  // namespace gt
