// Lines of several files in turn, read only when some are there: the loop that
// reads them has others to wait for.
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
    kPart,  // the last line of a file, which has no LF
    kTooLong,
    kNothing,  // right now: wait until fd() can be read
    kFile,     // the next file begins, name() is its
    kError,    // of name(): why() says what
    kEnd
  };

  explicit RouteInput(std::vector<std::string> files)
      : files_(std::move(files)) {}
  ~RouteInput();
  RouteInput(const RouteInput&) = delete;
  RouteInput& operator=(const RouteInput&) = delete;

  // How often that text, of whole lines, comes next and is here or to be had at
  // once; so often it is taken, but not more than `most` times.
  uint64_t take(std::string_view text, uint64_t lines, uint64_t most);
  // The text stays valid until the next call.
  Item next(std::string_view& line);

  int fd() const { return fd_; }
  const std::string& name() const { return name_; }
  const std::string& why() const { return why_; }
  uint64_t number() const { return number_; }  // of the line, in its file
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
  size_t searched_ = 0;  // bytes of the buffer without a line's end
};

}  // namespace gt::route
