// Reads what LogComment (log_rows.h) writes: the last column of a log row whose
// event is not an instruction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gt {

class LogWords {
 public:
  // Parses any text. If it is malformed, fewer words are found.
  void parse(std::string_view text);

  // Returns the value of the key, "" if there is none. Valid until the next
  // parse().
  std::string_view find(std::string_view key) const;
  std::optional<uint64_t> number(std::string_view key) const;
  // Returns a value that is a time, in nanoseconds since 1970.
  std::optional<uint64_t> time(std::string_view key) const;
  // Returns the free text, which is for people.
  std::string_view words() const { return words_; }

 private:
  std::vector<std::pair<std::string, std::string>> words_of_;
  size_t size_ = 0;  // how many of words_of_ are in use
  std::string words_;
};

// Returns a time as the log writes it, "1763654400.123456", in nanoseconds
// since 1970; nothing if the text is not one.
std::optional<uint64_t> parse_log_time(std::string_view text);

}  // namespace gt
