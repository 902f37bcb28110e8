#include "stream/log_words.h"

#include <algorithm>

#include "base/text.h"
#include "stream/line.h"

namespace gt {
namespace {

std::optional<uint64_t> parse_digits(std::string_view text) {
  uint64_t value = 0;
  if (!read_number(text, value)) return std::nullopt;
  return value;
}

// Returns where the value at the start of the text ends: at a blank or a ':'
// outside quotes, or at the end of the text.
size_t end_of_value(std::string_view text) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && quoted) {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (text[i] == ' ' || text[i] == ':')) {
      return i;
    }
  }
  return text.size();
}

}  // namespace

void LogWords::parse(std::string_view text) {
  size_ = 0;
  words_.clear();
  if (text.starts_with('#')) text.remove_prefix(1);
  for (;;) {
    if (text.starts_with(':')) {
      words_ = text.substr(std::min<size_t>(2, text.size()));
      return;
    }
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) return;
    const std::string_view key = text.substr(0, equals);
    text.remove_prefix(equals + 1);
    const size_t end = end_of_value(text);
    const std::string_view value = text.substr(0, end);
    if (size_ == words_of_.size()) words_of_.emplace_back();
    words_of_[size_].first = key;
    words_of_[size_++].second =
        value.starts_with('"') ? unquote(value) : std::string(value);
    text.remove_prefix(end);
  }
}

std::string_view LogWords::find(std::string_view key) const {
  for (size_t i = 0; i < size_; ++i) {
    if (words_of_[i].first == key) return words_of_[i].second;
  }
  return {};
}

std::optional<uint64_t> LogWords::number(std::string_view key) const {
  return parse_digits(find(key));
}

std::optional<uint64_t> LogWords::time(std::string_view key) const {
  return parse_log_time(find(key));
}

std::optional<uint64_t> parse_log_time(std::string_view text) {
  constexpr uint64_t kMost = 9'000'000'000;  // seconds: the year 2255
  const size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() != point + 7) {
    return std::nullopt;
  }
  const auto seconds = parse_digits(text.substr(0, point));
  const auto micros = parse_digits(text.substr(point + 1));
  if (!seconds || !micros || *seconds > kMost) return std::nullopt;
  return *seconds * 1'000'000'000 + *micros * 1'000;
}

}  // namespace gt
