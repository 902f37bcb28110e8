// Checks that the lines which a worker is sent go on where the last ended,
// number by number. It is for many workers in one process
// (exec/remote/light_members.h) that mostly get the same bodies, each of which
// is read once.
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

// A body that was read once: what it says holds wherever it stands, since its
// numbers count from its first line.
struct ReadBody {
  std::string text;
  uint64_t numbered = 0;  // lines that have a number
  uint64_t seq_span = 0;  // from the first number to behind the last
  int64_t least = 0;      // of its lines' places
  // Those that ask for something: prints, and lines for the worker itself.
  std::vector<std::string_view> asking;
};

// Errors: a line "#+" that is malformed, a control line that is unknown, a last
// line without its newline.
Result<std::shared_ptr<const ReadBody>> read_body(std::string_view text);

// Bodies that were read lately, by their bytes.
class BodyPool {
 public:
  Result<std::shared_ptr<const ReadBody>> read(std::string_view text);

 private:
  static constexpr size_t kMostBytes = size_t{64} << 20;
  std::unordered_map<uint64_t, std::shared_ptr<const ReadBody>> bodies_;
  size_t bytes_ = 0;
};

// The check of one worker's lines.
class LineCheck {
 public:
  using Handler = std::function<Status(std::string_view line)>;

  // `handler` gets the lines that ask for something, in order.
  LineCheck(BodyPool& pool, Handler handler)
      : pool_(&pool), handler_(std::move(handler)) {}

  // Takes a message: lines, block, hot, forget or end. Error: what is wrong
  // with its numbers or its id, or what `handler` said.
  Status take(const Message& message);

  uint64_t last_seq() const { return last_seq_; }
  uint64_t lines() const { return lines_; }  // that had a number
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
