// What is to come back from the program, in its order: values that somebody
// waits for, values that are shown to the user, and the answers to "#sync".
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
  // Gets the line once it has come.
  struct Answer {
    bool is_there = false;
    std::string line;
  };

  std::shared_ptr<Answer> expect() {
    auto answer = std::make_shared<Answer>();
    expected_.push_back([answer](std::string_view line) {
      answer->is_there = true;
      answer->line = line;
    });
    return answer;
  }
  // Where lines are printed: standard output, if this is not called.
  void show_on(std::FILE* file) { screen_ = file; }
  // The line is printed.
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
  // The errno of the first line that could not be printed, or 0.
  int show_error() const { return error_; }
  // Each line is given to `each` until `last` comes, an answer to "#sync".
  void expect_until(std::string last,
                    std::function<void(std::string_view)> each,
                    std::function<void()> then) {
    while (last.ends_with('\n')) last.pop_back();
    expected_.push_back(
        gathers(std::move(last), std::move(each), std::move(then)));
  }
  // The call is made once everything before has run.
  void expect_sync(std::function<void()> then) {
    expected_.push_back([then = std::move(then)](std::string_view) { then(); });
  }

  void take(std::string_view line) {
    const bool is_comment = line.starts_with('#') && sync_of(line).empty();
    if (is_comment || expected_.empty()) return;
    const auto taker = std::move(expected_.front());
    expected_.pop_front();
    taker(line);
  }
  bool empty() const { return expected_.empty(); }
  // Whether a line is to be shown that has not come.
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
