#include "log/tee.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/io.h"
#include "base/message.h"

namespace gt::log {
namespace {

constexpr std::string_view kEnd = "#end";

// Returns the position of the last of these lines.
size_t last_line(std::string_view lines) {
  if (lines.size() < 2) return 0;
  return lines.rfind('\n', lines.size() - 2) + 1;
}

bool is_instruction(std::string_view line) {
  if (!line.empty() && line[0] > '#') return true;
  const size_t first = line.find_first_not_of(" \t\r");
  return first != std::string_view::npos && line[first] != '#';
}

}  // namespace

Tee::Tee(int out, int log, std::string log_name, Say say)
    : out_(out),
      log_name_(std::move(log_name)),
      say_(std::move(say)),
      rows_(log) {
  for (Chunk& chunk : chunks_) chunk.bytes.resize(kChunk);
  write_log();
  thread_ = std::thread([this] { log_chunks(); });
}

Tee::~Tee() { finish(); }

// ---- the reading thread -----------------------------------------------------

Exit Tee::run(const std::vector<std::string>& paths) {
  if (paths.empty()) read(STDIN_FILENO, std::string(kStdinName));
  for (const std::string& path : paths) {
    if (stopped_) break;
    if (path == "-") {
      read(STDIN_FILENO, std::string(kStdinName));
      continue;
    }
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      fail(name_of_input(path), errno);
      continue;
    }
    read(fd, path);
    ::close(fd);
  }
  return finish();
}

void Tee::fail(const std::string& name, int error) {
  say_(format_error("gt-log", {name, 0}, {std::strerror(error), 0}, ""));
  status_ = worst(status_, Exit::kUsage);
}

void Tee::read(int fd, const std::string& name) {
  while (!stopped_) {
    Chunk& chunk = empty_chunk();
    const long n = read_some(fd, chunk.bytes.data(), kChunk);
    if (n < 0) {
      fail(name, errno);
      held_.clear();
    }
    if (n <= 0) return end_input(name, n < 0);
    chunk.size = static_cast<size_t>(n);
    chunk.time = LogTime::now();
    hand_over();
    pass({chunk.bytes.data(), chunk.size});
  }
  end_input(name, false);
}

Tee::Chunk& Tee::empty_chunk() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return filled_ < kChunks; });
  return chunks_[(first_ + filled_) % kChunks];
}

void Tee::hand_over() {
  {
    const std::lock_guard lock(mutex_);
    ++filled_;
  }
  changed_.notify_all();
}

void Tee::wait_for_log() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return filled_ == 0; });
}

// Writes whole lines. The beginning of another line is held back, so that it is
// never taken for a line if the rest of it does not come.
void Tee::pass(std::string_view bytes) {
  const size_t size = bytes.rfind('\n') + 1;  // bytes of whole lines
  std::string_view lines = bytes.substr(0, size);
  if (!held_.empty() && size > 0) {
    const size_t first = lines.find('\n') + 1;
    held_ += lines.substr(0, first);
    lines.remove_prefix(first);
    pass_held();
  }
  if (const size_t last = last_line(lines);
      lines.substr(last).starts_with(kEnd)) {
    write_out(lines.substr(0, last));
    held_ = lines.substr(last);
    pass_held();
  } else {
    write_out(lines);
  }
  held_ += bytes.substr(size);
  // So long that nobody takes it for a line.
  if (held_.size() > kMaxLine) pass_held();
}

// Writes what was held back. An end mark is written once everything before it
// is logged, with a larger status if that failed.
void Tee::pass_held() {
  if (held_.empty()) return;
  if (at_line_start_ && held_.starts_with(kEnd)) {
    wait_for_log();
    Marks end;
    const size_t size = held_.find_last_not_of("\r\n") + 1;
    const Exit own = worst(status_, is_log_lost_ ? Exit::kUsage : Exit::kDone);
    if (own != Exit::kDone && end.take(std::string_view(held_).substr(
                                  0, size)) == Marks::Mark::kEnd) {
      held_.replace(0, size, end_mark(worst(end.status(), own)));
    }
  }
  write_out(held_);
  held_.clear();
}

void Tee::write_out(std::string_view bytes) {
  if (stopped_ || bytes.empty()) return;
  at_line_start_ = bytes.back() == '\n';
  int error = 0;
  if (std::exchange(lacks_lf_, false)) error = write_all(out_, "\n");
  if (error == 0) error = write_all(out_, bytes);
  if (error == 0) return;
  say_(std::string("gt-log: cannot write standard output: ") +
       std::strerror(error) + "\n");
  status_ = worst(status_, Exit::kUsage);
  stopped_ = true;
}

void Tee::end_input(const std::string& name, bool has_failed) {
  wait_for_log();
  if (has_failed) part_.clear();
  if (!part_.empty()) {  // the input ended without LF
    log_line(LogTime::now(), part_, std::exchange(part_bytes_, 0));
    part_.clear();
    write_log();
  }
  pass_held();
  lacks_lf_ = lacks_lf_ || !at_line_start_;
  at_line_start_ = true;
  const std::string lost = cut_short_message(marks_, false, line_);
  if (!lost.empty() && !stopped_ && !has_failed) {
    say_(format_error("gt-log", {name, 0}, {lost, 0}, ""));
    status_ = worst(status_, Exit::kLost);
  }
  read_status_ = worst(read_status_, marks_.status());
  marks_ = Marks();
}

Exit Tee::finish() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
    if (is_log_lost_) status_ = worst(status_, Exit::kUsage);
  }
  return worst(status_, read_status_);
}

// ---- the logging thread -----------------------------------------------------

void Tee::log_chunks() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return filled_ > 0 || is_ending_; });
    if (filled_ == 0) return;
    const Chunk& chunk = chunks_[first_];
    lock.unlock();
    log_chunk(chunk);
    lock.lock();
    first_ = (first_ + 1) % kChunks;
    --filled_;
    changed_.notify_all();
  }
}

void Tee::log_chunk(const Chunk& chunk) {
  const char* at = chunk.bytes.data();
  const char* const end = at + chunk.size;
  while (at < end) {
    const void* lf = std::memchr(at, '\n', static_cast<size_t>(end - at));
    if (lf == nullptr) {
      if (part_.size() <= kMaxLine) part_.append(at, end);
      part_bytes_ += static_cast<size_t>(end - at);
      break;
    }
    const char* const next = static_cast<const char*>(lf) + 1;
    const auto size = static_cast<size_t>(next - at);
    if (part_.empty()) {
      log_line(chunk.time, {at, size - 1}, size);
    } else {
      if (part_.size() <= kMaxLine) part_.append(at, size - 1);
      log_line(chunk.time, part_, std::exchange(part_bytes_, 0) + size);
      part_.clear();
    }
    at = next;
  }
  write_log();
}

void Tee::log_line(const LogTime& time, std::string_view line, size_t bytes) {
  ++line_;
  const bool issue = is_instruction(line);
  if (line.starts_with('#')) {
    marks_.take(line.substr(0, line.find_last_not_of('\r') + 1));
  }
  if (line.size() > kMaxLine) line = "# a line of more than 64 MiB";
  rows_.add(time, line_, issue ? "issue" : "comment", "-", "-", bytes, line);
}

// If the log cannot be written, the stream goes on without it, since it matters
// more.
void Tee::write_log() {
  rows_.flush();
  if (rows_.errno_value() == 0 || is_log_lost_) return;
  is_log_lost_ = true;
  say_("gt-log: " + log_name_ + ": " + std::strerror(rows_.errno_value()) +
       "\n");
}

}  // namespace gt::log
