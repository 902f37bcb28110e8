// Inbox: what is to come back from the program, in order: values that somebody
// waits for, values that are printed for the user, and the answers to "#sync".
#pragma once

#include <cerrno>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "stream/marks.h"

namespace gt::client {

class Inbox {
 public:
  // The line that somebody waits for, once it has come.
  struct Answer {
    bool is_there = false;
    std::string line;
  };

  // Expects a line that the caller waits for.
  std::shared_ptr<Answer> expect() {
    auto answer = std::make_shared<Answer>();
    expected_.push_back([answer](std::string_view line) {
      answer->is_there = true;
      answer->line = line;
    });
    return answer;
  }
  // Sets the file that lines are printed to; without this call it is standard
  // output.
  void show_on(std::FILE* file) { screen_ = file; }
  // Expects a line that is printed.
  void expect_shown() {
    ++shown_;
    expected_.push_back([this](std::string_view line) {
      --shown_;
      const bool is_written =
          std::fwrite(line.data(), 1, line.size(), screen_) == line.size() &&
          std::fputc('\n', screen_) != EOF &&
          (shown_ > 0 || std::fflush(screen_) == 0);
      if (!is_written && error_ == 0) error_ = errno;
    });
  }
  // Returns the errno of the first line that could not be printed, or 0.
  int show_error() const { return error_; }
  // Gives each line to `each` until `last` comes, the answer to a "#sync"; then
  // calls `then`.
  void expect_until(std::string last,
                    std::function<void(std::string_view)> each,
                    std::function<void()> then) {
    while (last.ends_with('\n')) last.pop_back();
    expected_.push_back(
        gathers(std::move(last), std::move(each), std::move(then)));
  }
  // Expects the answer to a "#sync", and calls `then` when it comes.
  void expect_sync(std::function<void()> then) {
    expected_.push_back([then = std::move(then)](std::string_view) { then(); });
  }

  // Takes the next line of the results. Comments are skipped, except for the
  // answers to "#sync".
  void take(std::string_view line) {
    const bool is_comment = line.starts_with('#') && sync_of(line).empty();
    if (is_comment || expected_.empty()) return;
    const auto taker = std::move(expected_.front());
    expected_.pop_front();
    taker(line);
  }
  bool empty() const { return expected_.empty(); }
  // True if a line that is to be printed has not come yet.
  bool shows() const { return shown_ > 0; }

 private:
  using Taker = std::function<void(std::string_view)>;

  Taker gathers(std::string last, Taker each, std::function<void()> then) {
    return [=, this](std::string_view line) {
      if (line == last) return then();
      each(line);
      expected_.push_front(gathers(last, each, then));
    };
  }

  std::deque<std::function<void(std::string_view)>> expected_;
  size_t shown_ = 0;
  std::FILE* screen_ = stdout;
  int error_ = 0;
};

}  // namespace gt::client
