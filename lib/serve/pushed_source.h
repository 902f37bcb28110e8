// The lines of a text that comes in pieces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "stream/source.h"

namespace gt::serve {

class PushedSource : public Source {
 public:
  // Line numbers begin again from 1 after so many lines; 0: they never do.
  explicit PushedSource(size_t lines_of_round = 0) : period_(lines_of_round) {}

  // More of the text; and that there is no more of it.
  void push(std::string_view bytes);
  void end() { has_ended_ = true; }
  // There is no more of it, and a line whose end has not come is dropped.
  // Returns how many bytes that were.
  size_t cut();
  // Whether all of it was given out.
  bool is_over() const { return has_ended_ && at_ == text_.size(); }
  // Whether next() would give a line.
  bool has_line();
  // From now on lines are given until they are so many bytes; those that are
  // consumed together may be more.
  void allow(size_t bytes) { allowed_ = bytes; }
  // Bytes of a line whose end has not come; 0 if a whole one is there.
  size_t unfinished() { return has_line() ? 0 : text_.size() - at_; }
  // Bytes that were given out, in all.
  size_t taken() const { return taken_; }

  // As Reader::next(), but kEnd also when no whole line is there, or as many
  // are given as are allowed.
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

  std::string text_;
  size_t at_ = 0;      // bytes of it that were given out
  size_t looked_ = 0;  // and those in which no LF was found
  size_t allowed_ = 0;
  size_t taken_ = 0;
  size_t period_;
  size_t line_ = 0;
  bool is_first_ = true;
  bool skips_ = false;  // the rest of a line that was too long
  bool has_ended_ = false;
  std::string head_;  // the beginning of a line that was too long
};

}  // namespace gt::serve
