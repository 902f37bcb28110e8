#include "stream/marks.h"

#include <charconv>
#include <optional>

#include "base/text.h"
#include "stream/line.h"

namespace gt {
namespace {

constexpr std::string_view kReport = "#report ";

// Returns the number after `word`, if the comment holds nothing else.
std::optional<int> number_after(std::string_view comment,
                                std::string_view word) {
  if (!comment.starts_with(word)) return std::nullopt;
  comment.remove_prefix(word.size());
  if (comment.empty() || comment[0] != ' ') return std::nullopt;
  const size_t begin = comment.find_first_not_of(" \t");
  const size_t end = comment.find_last_not_of(" \t\r") + 1;
  if (begin >= end) return std::nullopt;
  int value = 0;
  const auto [next, error] =
      std::from_chars(comment.data() + begin, comment.data() + end, value);
  if (error != std::errc{} || next != comment.data() + end || value < 0) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::string end_mark(Exit status) {
  return "#end " + std::to_string(static_cast<int>(status));
}

Marks::Mark Marks::take(std::string_view comment) {
  if (const auto version = number_after(comment, "#gt")) {
    if (*version != 1) return Mark::kBadVersion;
    lost_ = lost_ || open_;
    opened_ = open_ = true;
    return Mark::kOpen;
  }
  if (const auto status = number_after(comment, "#end")) {
    if (*status > 255) return Mark::kNone;
    open_ = false;
    status_ = worst(status_, static_cast<Exit>(*status));
    return Mark::kEnd;
  }
  return Mark::kNone;
}

std::string cut_short_message(const Marks& marks, bool is_empty_pipe,
                              size_t line) {
  if (marks.cut_short()) {
    return "stream cut short after line " + std::to_string(line);
  }
  if (!is_empty_pipe) return "";
  return "stream cut short before its first byte: the program before this pipe "
         "has written nothing (for an empty program read /dev/null, or write a "
         "line with '#')";
}

std::string_view sync_of(std::string_view comment) {
  constexpr size_t kMost = 256;  // bytes; a #sync is kept until it is answered
  if (!comment.starts_with(kSyncHead)) return {};
  const size_t end = comment.find(' ', kSyncHead.size());
  const std::string_view line = comment.substr(0, end);
  return line.size() > kSyncHead.size() && line.size() <= kMost
             ? line
             : std::string_view();
}

bool counts_blocks(std::string_view sync) {
  const size_t slash = sync.find('/');
  return slash != std::string_view::npos && slash + 1 < sync.size() &&
         sync.find_first_not_of("0123456789", slash + 1) ==
             std::string_view::npos;
}

std::string_view client_record_of(std::string_view comment) {
  constexpr std::string_view kHead = "#client ";
  constexpr size_t kMost = 1024;  // bytes; the last one of each client is kept
  const bool is_one = comment.starts_with(kHead) && comment.size() <= kMost;
  return is_one ? comment.substr(1) : std::string_view();
}

bool is_saves_mark(std::string_view comment, std::string_view mark) {
  return comment.starts_with(mark) &&
         (comment.size() == mark.size() || comment[mark.size()] == ' ');
}

bool asks_reports(std::string_view comment) {
  return comment.starts_with(kReportsMark) &&
         comment.substr(0, comment.find(' ')) == kReportsMark;
}

std::string to_string(const ReportMark& mark) {
  return std::string(kReport) + std::to_string(static_cast<int>(mark.status)) +
         " " + (mark.space.empty() ? "-" : mark.space) + " " + quote(mark.text);
}

std::optional<ReportMark> report_of(std::string_view comment) {
  if (!comment.starts_with(kReport)) return std::nullopt;
  comment.remove_prefix(kReport.size());
  int status = 0;
  const std::string_view number = take_word(comment);
  const std::string_view space = take_word(comment);
  const std::string_view text =
      comment.substr(comment.starts_with(' ') ? 1 : 0);
  if (!read_number(number, status) || space.empty() || text.size() < 2 ||
      text.front() != '"' || text.back() != '"') {
    return std::nullopt;
  }
  return ReportMark{static_cast<Exit>(status),
                    space == "-" ? std::string() : std::string(space),
                    unquote(text)};
}

std::string_view outer_space(std::string_view line) {
  const size_t slash = line.substr(0, line.find_first_of("\"#")).find('/');
  if (slash == std::string_view::npos) return {};
  size_t begin = slash;
  while (begin > 0 && line[begin - 1] != ' ') --begin;
  return line.substr(begin, slash - begin);
}

}  // namespace gt
