#include "client/file_carrier.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "stream/line.h"

namespace gt::client {
namespace {

constexpr int kLook = 200;  // ms between checks whether the cluster is gone

std::string errand(const char* verb, std::string_view a, std::string_view b) {
  return std::string(verb) + ' ' + quote(a) + ' ' + quote(b) + '\n';
}

}  // namespace

void FileCarrier::join(Command join, IsLost is_lost) {
  join_ = std::move(join);
  join_.emplace_back("--carry");
  is_lost_ = std::move(is_lost);
}

Status FileCarrier::claim(std::string_view name) {
  return run("claim " + quote(name) + '\n');
}

Status FileCarrier::send(std::string_view file, std::string_view name) {
  return run(errand("send", file, name));
}

Status FileCarrier::fetch(std::string_view name, std::string_view file) {
  return run(errand("fetch", name, file));
}

void FileCarrier::forget(std::string_view name) {
  const std::lock_guard lock(forgotten_mutex_);
  forgotten_ += "remove " + quote(name) + '\n';
}

Status FileCarrier::start() {
  if (process_.lines().ok()) return ok_status();
  in_.clear();
  Status status = process_.start({join_}, false);
  if (status.ok()) status = answer();
  if (!status.ok()) process_.stop();
  return status;
}

std::string FileCarrier::take_forgotten() {
  const std::lock_guard lock(forgotten_mutex_);
  return std::exchange(forgotten_, "");
}

Status FileCarrier::run(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (Status status = start(); !status.ok()) return status;
  const std::string before = take_forgotten();
  if (!write(before + line)) return give_up();
  auto left = std::count(before.begin(), before.end(), '\n');
  for (; left > 0 && process_.lines().ok(); --left) (void)answer();
  return process_.lines().ok() ? answer() : give_up();
}

// gt-emit has ended by itself: collects its status, and returns the error.
Status FileCarrier::give_up() {
  process_.wait();
  const std::string why = process_.ended();
  process_.stop();
  return Error{"cannot carry files: " +
               (why.empty() ? "gt-emit --carry ended early" : why)};
}

bool FileCarrier::write(std::string_view lines) {
  while (!lines.empty()) {
    const ssize_t n = ::send(process_.lines().get(), lines.data(), lines.size(),
                             MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    lines.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

Status FileCarrier::answer() {
  size_t end = 0;
  while ((end = in_.find('\n')) == std::string::npos) {
    pollfd fd = {process_.results().get(), POLLIN, 0};
    if (::poll(&fd, 1, kLook) == 0) {
      if (!is_lost_()) continue;
      process_.stop();
      return Error{"cannot carry files: the cluster is gone"};
    }
    char bytes[4096];
    const ssize_t n = ::read(process_.results().get(), bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return give_up();
    in_.append(bytes, static_cast<size_t>(n));
  }
  const std::string line = in_.substr(0, end);
  in_.erase(0, end + 1);
  if (line == "done") return ok_status();
  return Error{line.substr(std::min(line.size(), line.find(' ') + 1))};
}

void FileCarrier::end(bool is_gone) {
  const std::lock_guard lock(mutex_);
  if (is_gone) return process_.stop();
  if (process_.lines().ok()) (void)write(take_forgotten());
  process_.lines() = Fd();
  process_.wait();
}

void FileCarrier::close_in_child() {
  process_.lines() = Fd();
  process_.results() = Fd();
}

}  // namespace gt::client
