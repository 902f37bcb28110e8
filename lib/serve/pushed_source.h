// PushedSource: the lines of a text that comes in pieces.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "emit/session.h"
#include "stream/source.h"

namespace gt::serve {

class PushedSource : public Source {
 public:
  static constexpr size_t kMostLine = emit::kMostOfClient;

  // Tells whether a line can be given out now; if not, it stays the next one.
  using MayTake = std::function<bool(std::string_view line)>;

  // Line numbers begin again from 1 after `lines_of_round` lines; 0: they never
  // do.
  explicit PushedSource(size_t lines_of_round = 0, MayTake may_take = {})
      : may_take_(std::move(may_take)), period_(lines_of_round) {}

  // push() adds text; end() says that there is no more.
  void push(std::string_view bytes);
  void end() { has_ended_ = true; }
  // Ends the text, and drops a line whose end has not come. Returns the bytes
  // that were dropped.
  size_t cut();
  // True if the whole text was given out.
  bool is_over() const { return has_ended_ && at_ == text_.size(); }
  // True if next() would return a line.
  bool has_line();
  // From now on lines are given out until they have `bytes` bytes; those that
  // are consumed together may have more.
  void allow(size_t bytes) { allowed_ = bytes; }
  // Returns the bytes of a line whose end has not come; 0 if there is a whole
  // line.
  size_t unfinished() { return has_line() ? 0 : text_.size() - at_; }
  // Returns the bytes that were given out so far.
  size_t taken() const { return taken_; }

  // The same as Reader::next(), but also returns kEnd when no whole line is
  // there, when it may not be taken yet, or when the allowed bytes were given
  // out.
  Reader::Item next(std::string_view& line) override;
  std::string_view buffered() const override;
  void consume(size_t bytes, size_t lines) override;
  bool fill_if_ready() override { return false; }
  size_t line() const override { return line_; }
  bool is_empty_pipe() const override { return false; }

 private:
  void take(size_t bytes);
  void count(size_t lines);
  void compact();

  MayTake may_take_;
  std::string text_;
  size_t at_ = 0;      // bytes of text_ that were given out
  size_t looked_ = 0;  // bytes of text_ before which there is no LF
  size_t allowed_ = 0;
  size_t taken_ = 0;
  size_t period_;
  size_t line_ = 0;
  bool is_first_ = true;
  bool skips_ = false;  // the rest of a line that was too long is skipped
  bool has_ended_ = false;
  std::string head_;  // the beginning of a line that was too long
};

}  // namespace gt::serve
