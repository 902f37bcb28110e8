// Writes the rows of a log, gt-log(5): of a stream that passes (gt-log -o), and
// of a run (gt-route --log).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gt {

// Seconds since 1970 as the log spells them, "1763654400.123456".
struct LogTime {
  char text[32];
  size_t size = 0;

  static LogTime now();
  operator std::string_view() const { return {text, size}; }
};

// The last column of a row that is no instruction: "# from=0: words".
class LogComment {
 public:
  // Values that a word cannot be are quoted.
  LogComment& word(std::string_view key, std::string_view value);
  LogComment& word(std::string_view key, uint64_t value);
  // For people; the last part. Of several lines the first.
  LogComment& words(std::string_view text);
  // The same of a failure.
  LogComment& error(std::string_view message);

  std::string_view text() const { return text_; }

 private:
  std::string text_ = "#";
};

// Rows are held until flush(), or until they are a megabyte. Not for several
// threads at once.
class LogRows {
 public:
  // A descriptor that stays the caller's; below 0 nothing is written. The
  // header is the first row.
  explicit LogRows(int fd);

  // `text` is a line without its end: an instruction, or a comment.
  void add(std::string_view time, uint64_t seq, std::string_view event,
           std::string_view peer, std::string_view client, uint64_t bytes,
           std::string_view text);
  void flush();
  // The errno of the first write that failed, after which nothing is written;
  // else 0.
  int errno_value() const { return errno_; }

 private:
  static constexpr size_t kHeld = size_t{1} << 20;

  int fd_;
  int errno_ = 0;
  std::vector<char> rows_;
  size_t size_ = 0;
};

}  // namespace gt
