// Reads what LogComment (log_rows.h) writes: the last column of a row that is
// no instruction.
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
  // Anything: what is not as it should be gives fewer words.
  void parse(std::string_view text);

  // "" without the key. Valid until the next parse().
  std::string_view find(std::string_view key) const;
  std::optional<uint64_t> number(std::string_view key) const;
  // A time in nanoseconds since 1970.
  std::optional<uint64_t> time(std::string_view key) const;
  // For people.
  std::string_view words() const { return words_; }

 private:
  std::vector<std::pair<std::string, std::string>> words_of_;
  size_t size_ = 0;  // of words_of_ in use
  std::string words_;
};

// "1763654400.123456" in nanoseconds.
std::optional<uint64_t> parse_log_time(std::string_view text);

}  // namespace gt
