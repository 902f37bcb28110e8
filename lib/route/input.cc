#include "route/input.h"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

namespace gt::route {
namespace {

// Opens a file without waiting for the first writer of a FIFO, since gt-route
// waits for signals, too. Reading waits as usual.
std::unique_ptr<FileSource> open_at_once(const std::string& path) {
  if (path == "-") return open_source(path);
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return nullptr;
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return std::make_unique<FileSource>(fd, nullptr);
}

}  // namespace

RouteInput::Item RouteInput::open_next() {
  if (next_file_ == files_.size()) return Item::kEnd;
  const std::string& path = files_[next_file_++];
  name_ = name_of_input(path);
  source_ = open_at_once(path);
  if (source_ == nullptr) {
    why_ = std::strerror(errno);
    last_number_ = 0;
    return Item::kError;
  }
  searched_ = 0;
  return Item::kFile;
}

RouteInput::Item RouteInput::close(Item item) {
  last_number_ = source_->line();
  source_.reset();
  return item == Item::kError ? item : open_next();
}

uint64_t RouteInput::take(std::string_view text, uint64_t lines,
                          uint64_t most) {
  uint64_t times = 0;
  while (source_ != nullptr && times < most) {
    const std::string_view held = source_->buffered();
    if (held.starts_with(text)) {
      source_->consume(text.size(), lines);
      ++times;
    } else if (held.size() >= text.size() || !text.starts_with(held) ||
               !source_->fill_if_ready()) {
      break;
    }
  }
  if (times > 0) searched_ = 0;
  return times;
}

RouteInput::Item RouteInput::next(std::string_view& line) {
  if (source_ == nullptr) return open_next();
  for (;;) {
    const std::string_view held = source_->buffered();
    if (held.find('\n', searched_) != std::string_view::npos ||
        held.size() > Reader::kMaxLine) {
      break;
    }
    searched_ = held.size();
    if (source_->fill_if_ready()) continue;
    pollfd p{source_->fd(), POLLIN, 0};
    if (::poll(&p, 1, 0) == 0) return Item::kNothing;
    // Something can be read after all: more bytes, the end, or an error.
    // source_->next() reports the end or the error.
    if (!source_->fill_if_ready()) break;
  }
  searched_ = 0;
  switch (source_->next(line)) {
    case Reader::Item::kLine:
      return Item::kLine;
    case Reader::Item::kPart:
      return Item::kPart;
    case Reader::Item::kTooLong:
      return Item::kTooLong;
    case Reader::Item::kEnd:
      has_empty_pipe_ = has_empty_pipe_ || source_->is_empty_pipe();
      return close(Item::kEnd);
    case Reader::Item::kError:
      break;
  }
  why_ = std::strerror(source_->errno_value());
  return close(Item::kError);
}

}  // namespace gt::route
