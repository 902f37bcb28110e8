// The lines of several files, one after the other. It never waits for a file:
// next() says when a line is not there yet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/reader.h"

namespace gt::route {

class RouteInput {
 public:
  enum class Item : uint8_t {
    kLine,
    kPart,     // the last line of a file, which has no LF
    kTooLong,  // a line over Reader::kMaxLine; its beginning is given
    kNothing,  // no line is there yet: wait until fd() can be read
    kFile,     // the next file begins; name() is its name
    kError,    // name() cannot be read, or not to its end; why() says why
    kEnd       // of the last file
  };

  explicit RouteInput(std::vector<std::string> files)
      : files_(std::move(files)) {}
  ~RouteInput();
  RouteInput(const RouteInput&) = delete;
  RouteInput& operator=(const RouteInput&) = delete;

  // Takes `text`, which is `lines` whole lines, off the input as often as it
  // comes next, and returns how often that was: at most `most` times, and as
  // far as the input is there without waiting.
  uint64_t take(std::string_view text, uint64_t lines, uint64_t most);
  // The text stays valid until the next call.
  Item next(std::string_view& line);

  int fd() const { return fd_; }  // of the file at hand; -1: there is none
  const std::string& name() const { return name_; }
  const std::string& why() const { return why_; }
  // Of the last line, in its file, from 1.
  uint64_t number() const { return number_; }
  // One of the files was a pipe that ended before its first byte.
  bool has_empty_pipe() const { return has_empty_pipe_; }

 private:
  Item open_next();
  Item close(Item item);

  std::vector<std::string> files_;
  size_t next_file_ = 0;
  int fd_ = -1;
  std::unique_ptr<Reader> reader_;
  std::string name_;
  std::string why_;
  uint64_t number_ = 0;
  bool has_empty_pipe_ = false;
  // Bytes of the reader's buffer that were searched and have no LF.
  size_t searched_ = 0;
};

}  // namespace gt::route
