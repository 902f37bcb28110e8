// Joiner puts together messages that come in parts (more=1, wire.h), up to the
// size of the longest possible line. Only gt-route sends parts.
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
struct OwnedMessage {
  Message message;
  // Bytes of the frame that completed the message. MemberState sets it to 0 if
  // the frame used no credit.
  size_t bytes = 0;
  std::shared_ptr<const void> keep;
};

// Returns the message in one frame. Error: the frame is malformed, or holds
// only a part of a message.
Result<OwnedMessage> read_owned_message(Frame frame);

class Joiner {
 public:
  static constexpr size_t kMaxJoined = Reader::kMaxLine + kMaxBody;

  // Takes a frame. Returns a complete message, or none if the frame was a part
  // and more must come. A beat, gone, abort or watch may come between the parts
  // of a message, since these are about the connection, and is returned at
  // once. Errors: the frame is no message, any other message came between the
  // parts of one, or the parts have more than kMaxJoined bytes.
  Result<std::optional<OwnedMessage>> take(Frame frame);

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
