// The lines by which gt-route controls its workers. They stand between the
// instructions that it sends (wire.h), and begin with '#'.
//
//     #file "NAME"
//
// is the file in which the program has the lines that follow. A worker names it
// where it reports a failure.
//
//     #ranks SPACE FIRST-LAST=WORKER...
//
// says which worker plays which rank, before the first line that needs it.
// SPACE is a name space, "-" for none; RANK=WORKER stands for a single rank. A
// later statement about a rank replaces an earlier one. A line without ranks,
// "#ranks SPACE", removes the name space. All workers get these lines.
//
//     #saves end
//     #saves cut
//
// ends the groups of saves, after which their files are written; and gives them
// up, since the program was cut short and may have had more saves to these
// files. The workers that hold such saves get it.
//
//     #unsaved "PATH" "WHY"
//
// stands for a save whose value is known to have failed. The worker that would
// have saved it gets it.
//
//     #fence FROM TO,... "FILE"
//
// keeps workers in step that use one file: the workers TO go on behind it once
// worker FROM has run all lines before it. Only these workers get it. It alone
// takes a number, since the workers report when they are past it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stream/marks.h"

namespace gt::net {

struct RanksLine {
  struct Block {
    int64_t first = 0;
    int64_t last = 0;
    uint32_t worker = 0;
  };
  std::string space;  // "" is written as "-"
  std::vector<Block> blocks;
};

struct FenceLine {
  uint32_t from = 0;
  std::vector<uint32_t> to;
  // The file as the program spells it, by which workers know it: `from` tells
  // which of its saves to the file have failed. "" stands for no file.
  std::string file;
};

inline constexpr std::string_view kSavesEnd = gt::kSavesEnd;
inline constexpr std::string_view kSavesCut = "#saves cut";

inline bool is_failed_save_line(std::string_view line) {
  return line.starts_with("#unsaved ");
}
std::string failed_save_line(const std::string& path, const std::string& why);
struct FailedSave {
  std::string path, why;
};
// Error: the line is not two strings.
Result<FailedSave> parse_failed_save_line(std::string_view line);

inline bool is_file_line(std::string_view line) {
  return line.starts_with("#file ");
}
inline bool is_ranks_line(std::string_view line) {
  return line.starts_with("#ranks ");
}
inline bool is_fence_line(std::string_view line) {
  return line.starts_with("#fence ");
}

std::string file_line(std::string_view name);
std::string text_of(const RanksLine& line);
std::string text_of(const FenceLine& line);

// These take a line of the kind that they are named after. Returns the name of
// the file; there is no error.
std::string parse_file_line(std::string_view line);
// Errors: there is no SPACE, a word does not have the form above, or a rank is
// above kMaxRank.
Result<RanksLine> parse_ranks_line(std::string_view line);
// Errors: a word is no number, or there are less than two.
Result<FenceLine> parse_fence_line(std::string_view line);

}  // namespace gt::net
