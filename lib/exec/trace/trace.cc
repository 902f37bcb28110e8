#include "exec/trace/trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/io.h"
#include "base/printable.h"
#include "stream/rows.h"

namespace gt::exec {
namespace {

constexpr size_t kMaxText = 4096;
constexpr size_t kMaxWord = 256;  // a file's name, a signal, a rank set

// Returns the text as a word for a row: control bytes, which a file name may
// have, become '?', and "" becomes "-".
std::string word_of(std::string_view text) {
  std::string out(text.substr(0, kMaxWord));
  for (char& c : out) {
    if (is_control(c)) c = '?';
  }
  return out.empty() ? "-" : out;
}

// Returns the notes that say what a line is to the program: its microbatch, and
// whether it is of a gradient. The signal and the place have columns.
std::string kept_notes(const Line& line) {
  std::string out;
  for (const Note& note : line.notes) {
    if (note.key == "mb" || note.key == "bwd" || note.key == "grad") {
      append_note(out, note);
    }
  }
  return out.size() > kMaxWord ? "" : out;
}

// Returns the text with the notes behind it. One that is too long for a row is
// cut at a blank. Such a line holds a literal, so the cut is between two of its
// numbers.
std::string text_within(std::string_view text, const std::string& notes) {
  if (text.size() <= kMaxText) return std::string(text) + notes;
  const size_t blank = text.rfind(' ', kMaxText);
  return std::string(text.substr(0, blank)) + notes + " # ...";
}

std::string_view ranks_of(const Line& line) {
  for (const Name& name : line.results) {
    if (!name.ranks.empty()) return name.ranks;
  }
  for (const Operand& operand : line.operands) {
    if (!operand.ranks.empty()) return operand.ranks;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Trace>> Trace::open(const std::string& path) {
  const int fd = ::open(
      path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return Error{path + ": " + std::strerror(errno)};
  const std::string header = std::string(kTraceHeader) + "\n";
  return std::unique_ptr<Trace>(new Trace(fd, header, "", {}));
}

Result<std::unique_ptr<Trace>> Trace::join(const std::string& path,
                                           uint32_t worker, uint64_t since) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return Error{path + ": " + std::strerror(errno)};
  return std::unique_ptr<Trace>(
      new Trace(fd, "", std::to_string(worker) + "/", since));
}

Trace::Trace(int fd, std::string_view header, std::string prefix,
             std::optional<uint64_t> since)
    : fd_(fd),
      prefix_(std::move(prefix)),
      ticks_(since),
      filling_(kBuffer),
      full_(kBuffer),
      full_size_(header.size()) {  // the header is written before any row
  header.copy(full_.data(), header.size());
  thread_ = std::thread([this] { write_buffers(); });
}

Trace::~Trace() {
  finish();
  ::close(fd_);
}

std::unique_ptr<TraceText> Trace::text_of(const Line& line,
                                          std::string_view text,
                                          const std::string* file, double bytes,
                                          double flops, const char* queue) {
  TraceRow row;
  const std::string rank = word_of(ranks_of(line));
  const std::string_view* signal = line.note("signal");
  const std::string noted = word_of(signal != nullptr ? *signal : "");
  const std::string shown = text_within(text, kept_notes(line));
  row.queue = queue;
  row.rank = rank;
  row.op = line.op;
  row.bytes = static_cast<uint64_t>(bytes);
  row.flops = flops;
  row.signal = noted;
  row.text = shown;
  auto out = std::make_unique<TraceText>();
  out->file = file;
  out->queue = queue;
  append_head(out->head, row);
  out->head += word_of(*file) + ":";
  append_tail(out->tail, row);
  return out;
}

void Trace::end(const TraceText& text, uint64_t line) {
  end_ = std::max(ticks_.nanos(), start_);
  goes_on_ = true;
  if (!is_on_) {
    if (size_ > 0) hand_over();
    return;
  }
  const size_t most = 3 * (kMaxDigits + 1) + prefix_.size() + text.head.size() +
                      text.tail.size();
  if (size_ + most > kBuffer) hand_over();
  char* to = filling_.data() + size_;
  to = put_digits(to, start_);
  *to++ = '\t';
  to = put_digits(to, end_);
  *to++ = '\t';
  to += prefix_.copy(to, prefix_.size());
  std::memcpy(to, text.head.data(), text.head.size());
  to = put_digits(to + text.head.size(), line);
  std::memcpy(to, text.tail.data(), text.tail.size());
  to += text.tail.size();
  size_.store(static_cast<size_t>(to - filling_.data()),
              std::memory_order_release);
}

void Trace::add(const TraceText& text, uint64_t line, uint64_t start,
                uint64_t end) {
  if (!is_on_) return;
  std::string row = std::to_string(ticks_.since_start(start)) + '\t' +
                    std::to_string(ticks_.since_start(end)) + '\t' + prefix_ +
                    text.head + std::to_string(line) + text.tail;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return added_.size() < kBuffer; });
  if (is_salvaged_ || is_ending_) return;
  added_ += row;
  if (!is_due()) return;
  lock.unlock();
  changed_.notify_all();
}

// Gives the filled buffer to the writing thread. Waits while that still writes
// the buffer before it.
void Trace::hand_over() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return full_size_ == 0; });
  if (!is_salvaged_) {
    std::swap(filling_, full_);
    full_size_ = size_;
  }
  size_ = 0;
  lock.unlock();
  changed_.notify_all();
  ticks_.adjust();
}

int Trace::finish() {
  if (thread_.joinable()) {
    hand_over();
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  return errno_;
}

void Trace::salvage() {
  constexpr auto kPatience = std::chrono::seconds(5);  // with a slow disk
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kPatience, [this] { return full_size_ == 0; }) ||
      is_ending_) {
    return;
  }
  write_all(fd_, {filling_.data(), size_.load(std::memory_order_acquire)});
  write_all(fd_, added_);
  is_salvaged_ = true;
}

void Trace::write_buffers() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_due() || is_ending_; });
    if (full_size_ == 0 && added_.empty()) return;
    const std::string added = std::exchange(added_, {});
    lock.unlock();
    int error = write_all(fd_, {full_.data(), full_size_});
    if (error == 0) error = write_all(fd_, added);
    lock.lock();
    if (errno_ == 0) errno_ = error;
    full_size_ = 0;
    changed_.notify_all();
  }
}

}  // namespace gt::exec
