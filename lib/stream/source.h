// Where a program's lines come from: a descriptor, or a text that is fed again
// and again.
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
  virtual Reader::Item next(std::string_view& line) = 0;
  // What can be had without waiting, and giving it out whole.
  virtual std::string_view buffered() const = 0;
  virtual void consume(size_t bytes, size_t lines) = 0;
  virtual bool fill_if_ready() = 0;
  // Number of the line that next() gave last, from 1.
  virtual size_t line() const = 0;
  virtual int errno_value() const { return 0; }
  virtual bool is_empty_pipe() const { return false; }
};

// Lines of a descriptor, which it closes unless it is standard input.
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

// The lines of a file, "-" for standard input. Null: errno says why.
std::unique_ptr<Source> open_source(const std::string& file,
                                    std::function<void()> on_idle = nullptr);

// A text, `rounds` times over. Line numbers start again with every round.
class TextSource : public Source {
 public:
  // `of_empty_pipe`: it is empty, since what it was read from was an empty
  // pipe.
  TextSource(std::string text, size_t rounds, bool of_empty_pipe = false);
  Reader::Item next(std::string_view& line) override;
  std::string_view buffered() const override;
  void consume(size_t bytes, size_t lines) override;
  bool fill_if_ready() override { return false; }
  size_t line() const override { return line_; }
  bool is_empty_pipe() const override { return of_empty_pipe_; }

 private:
  std::string text_;  // copies of the body, so that a round can be compared
  size_t body_ = 0;   // bytes of one round
  size_t lines_ = 0;  // lines of one round
  size_t at_ = 0;     // in text_
  size_t left_ = 0;   // bytes still to give out
  size_t line_ = 0;
  bool of_empty_pipe_;
};

}  // namespace gt
