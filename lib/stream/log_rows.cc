#include "stream/log_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/io.h"
#include "base/printable.h"
#include "stream/line.h"
#include "stream/rows.h"

namespace gt {
namespace {

// True if a value can stand without quotes, and be told from what follows it.
bool is_word(std::string_view value) {
  return !value.empty() && std::none_of(value.begin(), value.end(), [](char c) {
    return is_control(c) || c == ' ' || c == '"' || c == '#' || c == ':';
  });
}

}  // namespace

LogTime LogTime::of(uint64_t micros) {
  LogTime time;
  char* at = put_digits(time.text, micros / 1'000'000);
  // The leading 1 keeps the zeros; the point then replaces it.
  char* end = put_digits(at, micros % 1'000'000 + 1'000'000);
  *at = '.';
  time.size = static_cast<size_t>(end - time.text);
  return time;
}

LogTime LogTime::now() { return of(wall_us()); }

LogComment& LogComment::word(std::string_view key, std::string_view value) {
  text_ += ' ';
  text_ += key;
  text_ += '=';
  text_ += is_word(value) ? std::string(value) : quote(value);
  return *this;
}

LogComment& LogComment::word(std::string_view key, uint64_t value) {
  return word(key, std::to_string(value));
}

LogComment& LogComment::words(std::string_view text) {
  text_ += ": ";
  const size_t start = text_.size();
  text_ += text.substr(0, text.find('\n'));
  std::replace_if(text_.begin() + static_cast<ptrdiff_t>(start), text_.end(),
                  is_control, ' ');
  return *this;
}

LogComment& LogComment::error(std::string_view message) {
  return words("ERROR " + std::string(message));
}

LogRows::LogRows(int fd)
    : LogRows(fd < 0 ? Sink() : Sink([fd](std::string_view rows) {
        return write_all(fd, rows);
      })) {}

LogRows::LogRows(Sink sink) : sink_(std::move(sink)), rows_(kHeld) {
  std::memcpy(rows_.data(), kLogHeader.data(), kLogHeader.size());
  size_ = kLogHeader.size();
  rows_[size_++] = '\n';
  flush();
}

void LogRows::add(std::string_view time, uint64_t seq, std::string_view event,
                  std::string_view peer, std::string_view client,
                  uint64_t bytes, std::string_view text) {
  const size_t most = time.size() + event.size() + peer.size() + client.size() +
                      text.size() + 2 * kMaxDigits + 7;
  if (size_ + most > rows_.size()) {
    flush();
    if (most > rows_.size()) rows_.resize(most);
  }
  char* to = rows_.data() + size_;
  const auto put = [&to](std::string_view column, char end) {
    std::memcpy(to, column.data(), column.size());
    to += column.size();
    *to++ = end;
  };
  put(time, '\t');
  to = put_digits(to, seq);
  *to++ = '\t';
  put(event, '\t');
  put(peer, '\t');
  put(client, '\t');
  to = put_digits(to, bytes);
  *to++ = '\t';
  put(text, '\n');
  size_ = static_cast<size_t>(to - rows_.data());
}

void LogRows::flush() {
  if (errno_ == 0 && sink_) errno_ = sink_({rows_.data(), size_});
  size_ = 0;
  if (rows_.size() > kHeld) {
    rows_.resize(kHeld);
    rows_.shrink_to_fit();
  }
}

}  // namespace gt
