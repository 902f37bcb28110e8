// The sources of a program's lines: a file descriptor, or a text that is fed a
// number of times (gt-emit --repeat).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/reader.h"

namespace gt {

// What programs say of a line for which next() returned kTooLong.
inline constexpr std::string_view kTooLongText = "the line is over 64 MiB";
static_assert(Reader::kMaxLine == size_t{64} << 20);

class Source {
 public:
  virtual ~Source() = default;
  // Reads the next line; the contract is that of Reader::next().
  virtual Reader::Item next(std::string_view& line) = 0;
  // Returns the text that is available without waiting and that next() has not
  // returned yet. consume() removes the first `bytes` of it, which must be
  // `lines` whole lines, and counts these. fill_if_ready() reads more text if
  // that needs no waiting; it returns false if none came.
  virtual std::string_view buffered() const = 0;
  virtual void consume(size_t bytes, size_t lines) = 0;
  virtual bool fill_if_ready() = 0;
  // Reads more text, and waits for it; false if no more will come. The line
  // that next() returned last is then no longer valid.
  virtual bool wait_for_more() { return false; }
  // Returns the number, from 1, of the last line that next() returned or
  // consume() removed.
  virtual size_t line() const = 0;
  // Same as Reader's functions of these names.
  virtual int errno_value() const { return 0; }
  virtual bool is_empty_pipe() const { return false; }
};

// The lines of a descriptor, which its destructor closes unless it is standard
// input. `on_idle` is passed to Reader.
class FileSource final : public Source {
 public:
  FileSource(int fd, std::function<void()> on_idle);
  ~FileSource() override;
  Reader::Item next(std::string_view& line) override;
  std::string_view buffered() const override { return reader_.buffered(); }
  void consume(size_t bytes, size_t lines) override;
  bool fill_if_ready() override { return reader_.fill_if_ready(); }
  bool wait_for_more() override { return reader_.wait_for_more(); }
  size_t line() const override { return line_; }
  int errno_value() const override { return reader_.errno_value(); }
  bool is_empty_pipe() const override { return reader_.is_empty_pipe(); }
  int fd() const { return fd_; }

 private:
  int fd_;
  Reader reader_;
  size_t line_ = 0;
};

// Opens an input, which is a file or "-" for standard input, to read its lines.
// Returns null if it cannot be opened; errno says why.
std::unique_ptr<FileSource> open_source(
    const std::string& path, std::function<void()> on_idle = nullptr);

// Returns the name of such an input for messages: the path, which is "''" if it
// is empty, or kStdinName.
std::string name_of_input(const std::string& path);

// The lines of a text, which is given `rounds` times. Line numbers start again
// from 1 in every round.
class TextSource : public Source {
 public:
  // `of_empty_pipe` is what is_empty_pipe() will return; only whoever read the
  // text knows it.
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
