#include "client/told.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "base/colors.h"
#include "base/io.h"
#include "base/text.h"

namespace gt::client {
namespace {

// What drain() writes; a program writes no such byte.
constexpr std::string_view kMark{"\0mark ", 6};

// A message that begins with a place.
struct Placed {
  std::string_view place;  // "fit.cc:7"
  std::string_view why;
};

std::optional<Placed> placed(std::string_view message) {
  const size_t end = message.find(": ");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view place = message.substr(0, end);
  const size_t colon = place.rfind(':');
  uint64_t line = 0;
  if (colon == std::string_view::npos || colon == 0 ||
      place.find(' ') != std::string_view::npos ||
      !read_number(place.substr(colon + 1), line)) {
    return std::nullopt;
  }
  return Placed{place, message.substr(end + 2)};
}

}  // namespace

Status Told::start() {
  int pair[2];
  if (::pipe2(pair, O_CLOEXEC) != 0) return Error{std::strerror(errno)};
  Fd told(pair[0]);
  end_ = Fd(pair[1]);
  try {
    thread_ = std::thread([this, fd = std::make_shared<Fd>(std::move(told))] {
      run(std::move(*fd));
    });
  } catch (const std::system_error& error) {
    return Error{error.what()};
  }
  return ok_status();
}

void Told::run(Fd told) {
  std::array<char, 1 << 16> buffer;
  std::string rest;
  for (;;) {
    const ssize_t n = ::read(told.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    rest.append(buffer.data(), static_cast<size_t>(n));
    size_t begin = 0;
    for (size_t end; (end = rest.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      if (!take(std::string_view(rest).substr(begin, end - begin))) return;
    }
    rest.erase(0, begin);
  }
  if (!rest.empty()) (void)take(rest);
  const std::lock_guard lock(mutex_);
  reached_ = ~uint64_t{0};
  drained_.notify_all();
}

// Takes a line, or a mark. Returns false for the mark that close() writes.
bool Told::take(std::string_view line) {
  const size_t mark = line.find(kMark);
  const std::string_view text = line.substr(0, mark);
  if (mark == std::string_view::npos || !text.empty()) {
    note(text);
    const std::string shown =
        takes_color(STDERR_FILENO) ? painted(text) : std::string(text);
    (void)write_all(STDERR_FILENO, shown + "\n");
  }
  if (mark == std::string_view::npos) return true;
  const std::lock_guard lock(mutex_);
  (void)read_number(line.substr(mark + kMark.size()), reached_);
  drained_.notify_all();
  return reached_ != 0;
}

// Keeps a failure, as in "gt-work: fit.cc:7: add: ...". Warnings and notes are
// none.
void Told::note(std::string_view line) {
  const size_t colon = line.find(": ");
  if (!line.starts_with("gt-") || colon == std::string_view::npos) return;
  line.remove_prefix(colon + 2);
  const size_t slash = line.find('/');  // of a client's name space, "c1/"
  if (line.starts_with('c') && slash != std::string_view::npos && slash > 1 &&
      line.find_first_not_of("0123456789", 1) == slash) {
    line.remove_prefix(slash + 1);
  }
  const auto found = placed(line);
  if (!found || found->why.starts_with("warning: ") ||
      found->why.starts_with("note: ")) {
    return;
  }
  const std::lock_guard lock(mutex_);
  any_ = true;
  if (!seen_.contains(found->place)) {
    failures_.emplace(found->place, line);
  }
}

void Told::saw(std::string_view message) {
  const auto found = placed(message);
  if (!found) return;
  const std::lock_guard lock(mutex_);
  seen_.emplace(found->place);
  if (const auto at = failures_.find(found->place); at != failures_.end()) {
    failures_.erase(at);
  }
}

void Told::drain() {
  constexpr std::chrono::seconds kPatience{5};
  if (!end_.ok()) return;
  std::unique_lock lock(mutex_);
  const uint64_t number = ++marks_;
  lock.unlock();
  (void)write_all(end_.get(),
                  std::string(kMark) + std::to_string(number) + "\n");
  lock.lock();
  drained_.wait_for(lock, kPatience, [&] { return reached_ >= number; });
}

std::vector<std::string> Told::take_failures() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (auto& [place, failure] : failures_) {
    seen_.insert(place);
    out.push_back(std::move(failure));
  }
  failures_.clear();
  return out;
}

bool Told::any() const {
  const std::lock_guard lock(mutex_);
  return any_;
}

void Told::close() {
  if (!thread_.joinable()) return;
  (void)write_all(end_.get(), std::string(kMark) + "0\n");
  thread_.join();
  end_ = Fd();
}

void Told::forget() {
  // The thread does not exist in the child.
  if (thread_.joinable()) thread_.detach();
  end_ = Fd();
}

}  // namespace gt::client
