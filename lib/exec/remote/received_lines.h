// ReceivedLines turns the messages of gt-route (net/wire.h) into the lines that
// they stand for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "net/wire.h"

namespace gt::exec {

// A body that is sent often comes once as a block, which is kept under an id.
// Later a message with only the id stands for it, or for many rounds of it. An
// Error means that no correct gt-route would send the message.
class ReceivedLines {
 public:
  using Item = net::NumberedLines::Item;
  // Receives the lines.
  class Sink {
   public:
    virtual ~Sink() = default;
    // Called around each round of a message. begin_round() and take() return
    // false if no more lines are wanted.
    virtual bool begin_round() = 0;
    virtual bool take(const Item& item) = 0;
    virtual void end_round(bool is_last) = 0;
  };

  Status take(const net::Message& message, Sink& sink);
  // Checks the message that ends the lines. Error: lines before it are missing.
  Status check_end(const net::Message& message) const {
    return check_after(message, last_seq_);
  }
  // Returns the seq of the last line taken.
  uint64_t last_seq() const { return last_seq_; }

 private:
  // The most bytes of kept blocks; gt-route makes a worker keep much less.
  static constexpr size_t kMostBlocks = size_t{64} << 20;

  Result<std::string_view> body_of(const net::Message& message);
  Status forget(const net::Message& message);
  Status take_round(std::string_view body, uint64_t seq, int64_t line,
                    Sink& sink);

  std::unordered_map<std::string, std::string> blocks_;
  size_t blocks_bytes_ = 0;
  uint64_t last_seq_ = 0;
};

}  // namespace gt::exec
