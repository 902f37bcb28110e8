// RouteInput: the lines of several files, one after the other. It never waits
// for a file: next() says when a line is not there yet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stream/source.h"

namespace gt::route {

class RouteInput {
 public:
  enum class Item : uint8_t {
    kLine,
    kPart,     // the last line of a file, which has no LF
    kTooLong,  // a line over Reader::kMaxLine; its beginning is given
    kNothing,  // no line is there yet: wait until fd() is readable
    kFile,     // the next file begins; name() is its name
    kError,    // name() cannot be read to its end; why() says why
    kEnd       // the last file has ended
  };

  explicit RouteInput(std::vector<std::string> files)
      : files_(std::move(files)) {}

  // Consumes `text`, which is `lines` whole lines, as often as it comes next in
  // the input, but at most `most` times, and returns how often that was. It
  // takes only input that is there without waiting.
  uint64_t take(std::string_view text, uint64_t lines, uint64_t most);
  // Sets `line` to the next line, if the result is one. It stays valid until
  // the next call.
  Item next(std::string_view& line);

  // Returns the descriptor of the current file, -1 if there is none.
  int fd() const { return source_ == nullptr ? -1 : source_->fd(); }
  const std::string& name() const { return name_; }
  const std::string& why() const { return why_; }
  // Returns the number of the last line in its file, from 1.
  uint64_t number() const {
    return source_ == nullptr ? last_number_ : source_->line();
  }
  // True if one of the files was a pipe that ended before its first byte.
  bool has_empty_pipe() const { return has_empty_pipe_; }

 private:
  Item open_next();
  Item close(Item item);

  std::vector<std::string> files_;
  size_t next_file_ = 0;
  std::unique_ptr<FileSource> source_;  // null: no file is open
  std::string name_;
  std::string why_;
  uint64_t last_number_ = 0;  // the last line of the file that was closed last
  bool has_empty_pipe_ = false;
  // The bytes of the source's buffer that were already searched for LF in vain.
  size_t searched_ = 0;
};

}  // namespace gt::route
