// Where a filter's lines come from: a file descriptor, or a text that is fed a
// number of times (gt-emit --repeat).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/reader.h"

namespace gt {

class Source {
 public:
  virtual ~Source() = default;
  // The next line, as Reader::next() gives it.
  virtual Reader::Item next(std::string_view& line) = 0;
  // The text that can be had without waiting and that next() has not given.
  // consume() takes so many bytes off it, which are whole lines, and counts
  // them. fill_if_ready() reads more of it without waiting; false if there is
  // none.
  virtual std::string_view buffered() const = 0;
  virtual void consume(size_t bytes, size_t lines) = 0;
  virtual bool fill_if_ready() = 0;
  // The number, from 1, of the line that next() gave or consume() took last.
  virtual size_t line() const = 0;
  // As Reader's functions of these names.
  virtual int errno_value() const { return 0; }
  virtual bool is_empty_pipe() const { return false; }
};

// The lines of a descriptor, which its destructor closes unless it is standard
// input. `on_idle`: as of Reader.
class FileSource : public Source {
 public:
  FileSource(int fd, std::function<void()> on_idle);
  ~FileSource() override;
  Reader::Item next(std::string_view& line) override;
  std::string_view buffered() const override { return reader_.buffered(); }
  void consume(size_t bytes, size_t lines) override;
  bool fill_if_ready() override { return reader_.fill_if_ready(); }
  size_t line() const override { return line_; }
  int errno_value() const override { return reader_.errno_value(); }
  bool is_empty_pipe() const override { return reader_.is_empty_pipe(); }

 private:
  int fd_;
  Reader reader_;
  size_t line_ = 0;
};

// The lines of a file, "-" for standard input. Null if it cannot be opened;
// errno says why.
std::unique_ptr<Source> open_source(const std::string& file,
                                    std::function<void()> on_idle = nullptr);

// The lines of a text, given `rounds` times. Line numbers start again from 1 in
// every round.
class TextSource : public Source {
 public:
  // `of_empty_pipe`: what is_empty_pipe() is to say, which is known to whoever
  // read the text.
  TextSource(std::string text, size_t rounds, bool of_empty_pipe = false);
  Reader::Item next(std::string_view& line) override;
  std::string_view buffered() const override;
  void consume(size_t bytes, size_t lines) override;
  bool fill_if_ready() override { return false; }
  size_t line() const override { return line_; }
  bool is_empty_pipe() const override { return of_empty_pipe_; }

 private:
  // At least two copies of the text, so that from any place in it the bytes of
  // a whole round lie together, as Replay wants them.
  std::string text_;
  size_t body_ = 0;   // bytes of one round
  size_t lines_ = 0;  // lines of one round
  size_t at_ = 0;     // in text_
  size_t left_ = 0;   // bytes still to give out
  size_t line_ = 0;
  bool of_empty_pipe_;
};

}  // namespace gt
