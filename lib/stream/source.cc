#include "stream/source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/message.h"

namespace gt {

FileSource::FileSource(int fd, std::function<void()> on_idle)
    : fd_(fd), reader_(fd, std::move(on_idle)) {}

FileSource::~FileSource() {
  if (fd_ != STDIN_FILENO) ::close(fd_);
}

Reader::Item FileSource::next(std::string_view& line) {
  const Reader::Item item = reader_.next(line);
  const bool is_line =
      item != Reader::Item::kEnd && item != Reader::Item::kError;
  if (is_line) ++line_;
  return item;
}

void FileSource::consume(size_t bytes, size_t lines) {
  reader_.consume(bytes);
  line_ += lines;
}

std::unique_ptr<FileSource> open_source(const std::string& path,
                                        std::function<void()> on_idle) {
  const int fd =
      path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  return std::make_unique<FileSource>(fd, std::move(on_idle));
}

std::string name_of_input(const std::string& path) {
  if (path.empty()) return "''";
  return path == "-" ? std::string(kStdinName) : path;
}

namespace {
constexpr size_t kCopies = size_t{1} << 20;  // the least bytes of text to hold
}

TextSource::TextSource(std::string text, size_t rounds, bool of_empty_pipe)
    : of_empty_pipe_(of_empty_pipe) {
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  if (!text.empty() && text.back() != '\n') text += '\n';
  body_ = text.size();
  lines_ = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  left_ = body_ * rounds;
  if (body_ == 0) return;
  const size_t copies = std::min(std::max<size_t>(2, kCopies / body_),
                                 std::max<size_t>(2, rounds));
  text_.reserve(body_ * copies);
  for (size_t i = 0; i < copies; ++i) text_ += text;
}

std::string_view TextSource::buffered() const {
  return std::string_view(text_).substr(at_,
                                        std::min(left_, text_.size() - at_));
}

void TextSource::consume(size_t bytes, size_t lines) {
  left_ -= bytes;
  at_ += bytes;
  if (at_ >= body_) at_ %= body_;
  line_ = (line_ + lines) % lines_;
  if (line_ == 0) line_ = lines_;
}

Reader::Item TextSource::next(std::string_view& line) {
  if (left_ == 0) return Reader::Item::kEnd;
  const size_t lf = text_.find('\n', at_);
  size_t length = lf - at_;
  line = std::string_view(text_).substr(at_, length);
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (line_ == lines_) line_ = 0;
  consume(length + 1, 1);
  return length > Reader::kMaxLine ? Reader::Item::kTooLong
                                   : Reader::Item::kLine;
}

}  // namespace gt
