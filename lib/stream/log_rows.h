// Writes the instruction log that gt-log(5) describes: rows about a stream that
// passes (gt-log -o), or about a run (gt-route --log). rows.h reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gt {

// A time as the log writes it: seconds since 1970 with six digits after the
// point, "1763654400.123456".
struct LogTime {
  char text[32];
  size_t size = 0;

  // `micros` are microseconds since 1970.
  static LogTime of(uint64_t micros);
  static LogTime now();
  operator std::string_view() const { return {text, size}; }
};

// The last column of a row whose event is not an instruction:
// "# key=value key=value: free text".
class LogComment {
 public:
  // Adds " key=value"; the value is quoted if it is not a plain word.
  LogComment& word(std::string_view key, std::string_view value);
  LogComment& word(std::string_view key, uint64_t value);
  // Adds the free text, for people, which comes last. Only the first line of
  // the text is taken.
  LogComment& words(std::string_view text);
  // Adds a failure as the free text: "ERROR" and the message.
  LogComment& error(std::string_view message);

  std::string_view text() const { return text_; }

 private:
  std::string text_ = "#";
};

// Buffers rows and writes them at flush(), or when there is a megabyte of them.
// Not thread-safe.
class LogRows {
 public:
  // Takes all of the bytes; returns 0, or the errno of what went wrong.
  using Sink = std::function<int(std::string_view)>;

  // Writes the header row. The descriptor stays the caller's; if it is
  // negative, nothing is ever written.
  explicit LogRows(int fd);
  // The same; without a sink, nothing is ever written.
  explicit LogRows(Sink sink);

  // Adds a row; the columns are those of LogRow (rows.h). `text` is the last
  // one: an instruction without LF, or a LogComment's text.
  void add(std::string_view time, uint64_t seq, std::string_view event,
           std::string_view peer, std::string_view client, uint64_t bytes,
           std::string_view text);
  void flush();
  // Returns the errno of the first write that failed, 0 if none did. After a
  // failure nothing more is written.
  int errno_value() const { return errno_; }

 private:
  static constexpr size_t kHeld = size_t{1} << 20;

  Sink sink_;
  int errno_ = 0;
  std::vector<char> rows_;
  size_t size_ = 0;
};

}  // namespace gt
