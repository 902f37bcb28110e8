#include "base/reader.h"

#include <poll.h>

#include <cerrno>
#include <cstring>

#include "base/io.h"

namespace gt {
namespace {

constexpr size_t kFirstBuffer = size_t{256} << 10;
constexpr size_t kShownHead = 80;

bool readable_now(int fd) {
  pollfd p{fd, POLLIN, 0};
  return ::poll(&p, 1, 0) > 0;
}

std::string_view without_cr(const char* data, size_t size) {
  while (size > 0 && data[size - 1] == '\r') --size;
  return {data, size};
}

}  // namespace

Reader::Reader(int fd, std::function<void()> on_idle)
    : fd_(fd), on_idle_(std::move(on_idle)), buffer_(kFirstBuffer) {}

void Reader::make_room() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
}

Reader::Fill Reader::fill() {
  if (at_end_) return end();
  make_room();
  if (on_idle_ && !readable_now(fd_)) on_idle_();
  const long n = read_some(fd_, buffer_.data() + end_, buffer_.size() - end_);
  if (n > 0) {
    end_ += static_cast<size_t>(n);
    has_bytes_ = true;
    return Fill::kMore;
  }
  at_end_ = true;
  errno_ = n == 0 ? 0 : errno;
  is_empty_pipe_ = n == 0 && !has_bytes_ && gt::is_empty_pipe(fd_);
  return end();
}

// After an error, every further call reports the error again.
Reader::Fill Reader::end() { return errno_ == 0 ? Fill::kEnd : Fill::kError; }

bool Reader::fill_if_ready() {
  if (at_end_ || !readable_now(fd_)) return false;
  return fill() == Fill::kMore;
}

Reader::Item Reader::next(std::string_view& line) {
  const Item item = next_line(line);
  if (is_first_) {
    is_first_ = false;
    const bool has_text = item == Item::kLine || item == Item::kPart;
    if (has_text && line.starts_with(kByteOrderMark)) {
      line.remove_prefix(kByteOrderMark.size());
    }
  }
  return item;
}

Reader::Item Reader::next_line(std::string_view& line) {
  size_t searched = 0;
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const size_t size = end_ - begin_;
    const void* lf = std::memchr(start + searched, '\n', size - searched);
    if (lf != nullptr) {
      const auto length =
          static_cast<size_t>(static_cast<const char*>(lf) - start);
      begin_ += length + 1;
      if (length > kMaxLine) {
        head_.assign(start, kShownHead);
        line = head_;
        return Item::kTooLong;
      }
      line = without_cr(start, length);
      return Item::kLine;
    }
    if (size > kMaxLine) return too_long(line);
    searched = size;
    const Fill got = fill();
    if (got == Fill::kMore) continue;
    if (got == Fill::kError) return Item::kError;
    if (end_ == begin_) return Item::kEnd;
    line = without_cr(buffer_.data() + begin_, end_ - begin_);
    begin_ = end_;
    return Item::kPart;
  }
}

Reader::Item Reader::too_long(std::string_view& line) {
  head_.assign(buffer_.data() + begin_, kShownHead);
  line = head_;
  buffer_.resize(kFirstBuffer);
  for (;;) {  // skip to the end of the line
    begin_ = end_ = 0;
    const Fill got = fill();
    if (got == Fill::kError) return Item::kError;
    if (got == Fill::kEnd) return Item::kTooLong;
    const void* lf = std::memchr(buffer_.data(), '\n', end_);
    if (lf == nullptr) continue;
    begin_ =
        static_cast<size_t>(static_cast<const char*>(lf) - buffer_.data()) + 1;
    return Item::kTooLong;
  }
}

}  // namespace gt
