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
  // Takes any text; of a malformed one fewer words are found.
  void parse(std::string_view text);

  // The value of the key, "" if there is none. Valid until the next parse().
  std::string_view find(std::string_view key) const;
  std::optional<uint64_t> number(std::string_view key) const;
  // A value that is a time, in nanoseconds since 1970.
  std::optional<uint64_t> time(std::string_view key) const;
  // The free text, for people.
  std::string_view words() const { return words_; }

 private:
  std::vector<std::pair<std::string, std::string>> words_of_;
  size_t size_ = 0;  // how many of words_of_ are in use
  std::string words_;
};

// A time as the log writes it, "1763654400.123456", in nanoseconds since 1970;
// nothing if the text is not one.
std::optional<uint64_t> parse_log_time(std::string_view text);

}  // namespace gt
