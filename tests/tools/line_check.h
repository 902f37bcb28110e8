// Checks that the numbers of the lines that a worker is sent continue where the
// last ended. It is made for many workers in one process
// (light_members.cc), which mostly get the same bodies; each body is
// parsed only once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/wire.h"

namespace gt::net {

// What was found in a body. It holds wherever the body occurs, since the
// numbers count from its first line.
struct ReadBody {
  std::string text;
  uint64_t numbered = 0;  // count of lines that take a number
  uint64_t seq_span = 0;  // last number - first number + 1
  int64_t least = 0;      // least place of a line, from the first line's place
  // The lines that the worker must act on: prints, #ranks and #fence lines.
  std::vector<std::string_view> asking;
};

// Parses a body. Errors: a malformed line "#+", an unknown control line, a last
// line without its newline.
Result<std::shared_ptr<const ReadBody>> read_body(std::string_view text);

// A cache of parsed bodies, found by their bytes.
class BodyPool {
 public:
  Result<std::shared_ptr<const ReadBody>> read(std::string_view text);

 private:
  static constexpr size_t kMostBytes = size_t{64} << 20;
  std::unordered_map<uint64_t, std::shared_ptr<const ReadBody>> bodies_;
  size_t bytes_ = 0;
};

// Checks the lines of one worker.
class LineCheck {
 public:
  using Handler = std::function<Status(std::string_view line)>;

  // `handler` gets the lines of ReadBody::asking, in order.
  LineCheck(BodyPool& pool, Handler handler)
      : pool_(&pool), handler_(std::move(handler)) {}

  // Checks a message: lines, block, hot, forget or end. Errors: its numbers or
  // its id are wrong, or an error of `handler`.
  Status take(const Message& message);

  uint64_t last_seq() const { return last_seq_; }
  uint64_t lines() const { return lines_; }  // lines with a number so far
  size_t blocks() const { return blocks_.size(); }

 private:
  using Body = std::shared_ptr<const ReadBody>;
  Result<Body> body_of(const Message& message);
  Status forget(const std::string& id);
  Status follow(const LinesHeader& header, const ReadBody& body);
  Status handle(const LinesHeader& header, const ReadBody& body) const;

  BodyPool* pool_;
  Handler handler_;
  std::unordered_map<std::string, Body> blocks_;
  uint64_t last_seq_ = 0;
  uint64_t lines_ = 0;
};

}  // namespace gt::net
