#include "route/input.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/message.h"

namespace gt::route {

RouteInput::~RouteInput() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

RouteInput::Item RouteInput::open_next() {
  if (next_file_ == files_.size()) return Item::kEnd;
  const std::string& path = files_[next_file_++];
  const bool is_stdin = path == "-";
  name_ = is_stdin ? kStdinName : path;
  number_ = 0;
  fd_ = is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) {
    why_ = std::strerror(errno);
    return Item::kError;
  }
  reader_ = std::make_unique<Reader>(fd_, nullptr);
  searched_ = 0;
  return Item::kFile;
}

RouteInput::Item RouteInput::close(Item item) {
  reader_.reset();
  if (fd_ > STDERR_FILENO) ::close(fd_);
  fd_ = -1;
  return item == Item::kError ? item : open_next();
}

uint64_t RouteInput::take(std::string_view text, uint64_t lines,
                          uint64_t most) {
  uint64_t times = 0;
  while (reader_ != nullptr && times < most) {
    const std::string_view held = reader_->buffered();
    if (held.starts_with(text)) {
      reader_->consume(text.size());
      ++times;
    } else if (held.size() >= text.size() || !text.starts_with(held) ||
               !reader_->fill_if_ready()) {
      break;
    }
  }
  if (times > 0) searched_ = 0;
  number_ += times * lines;
  return times;
}

RouteInput::Item RouteInput::next(std::string_view& line) {
  if (reader_ == nullptr) return open_next();
  for (;;) {
    const std::string_view held = reader_->buffered();
    if (held.find('\n', searched_) != std::string_view::npos ||
        held.size() > Reader::kMaxLine) {
      break;
    }
    searched_ = held.size();
    if (reader_->fill_if_ready()) continue;
    pollfd p{fd_, POLLIN, 0};
    if (::poll(&p, 1, 0) == 0) return Item::kNothing;
    // Something can be read after all: more bytes, the end, or an error.
    // reader_->next() reports the end or the error.
    if (!reader_->fill_if_ready()) break;
  }
  searched_ = 0;
  switch (reader_->next(line)) {
    case Reader::Item::kLine:
      ++number_;
      return Item::kLine;
    case Reader::Item::kPart:
      ++number_;
      return Item::kPart;
    case Reader::Item::kTooLong:
      ++number_;
      return Item::kTooLong;
    case Reader::Item::kEnd:
      has_empty_pipe_ = has_empty_pipe_ || reader_->is_empty_pipe();
      return close(Item::kEnd);
    case Reader::Item::kError:
      break;
  }
  why_ = std::strerror(reader_->errno_value());
  return close(Item::kError);
}

}  // namespace gt::route
