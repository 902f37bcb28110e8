// Messages as they were meant: what came in parts (more=1) is put together, up
// to the longest line there can be. gt-route alone sends parts.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/reader.h"
#include "net/frame.h"
#include "net/wire.h"

namespace gt::net {

// A message that holds the bytes it views.
struct Letter {
  Message message;
  size_t bytes = 0;  // of the frame that completed it
  std::shared_ptr<const void> keep;
};

// The message that one frame holds. Error: it holds none, or a part of one.
Result<Letter> read_letter(Frame frame);

class Joiner {
 public:
  static constexpr size_t kMaxJoined = Reader::kMaxLine + kMaxBody;

  // Nothing: a part was taken, more is to come. Between the parts of a message
  // a beat or an abort may come, which are about the connection: they are
  // handed over at once. Error: what is no message, any other message between
  // the parts of one, more than kMaxJoined.
  Result<std::optional<Letter>> take(Frame frame);

 private:
  struct Box {
    Frame first;
    std::string body;
    Message message;
  };
  Status add(const Message& part);

  std::shared_ptr<Box> open_;  // the message whose parts are coming
};

}  // namespace gt::net
