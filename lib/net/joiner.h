// Puts together messages that came in parts (more=1, wire.h), up to the longest
// line that there can be. Only gt-route sends parts.
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
  // Bytes of the frame that completed it; as MemberState gives it, 0 if the
  // frame took no credit.
  size_t bytes = 0;
  std::shared_ptr<const void> keep;
};

// The message that one frame holds. Error: it holds none, or a part of one.
Result<Letter> read_letter(Frame frame);

class Joiner {
 public:
  static constexpr size_t kMaxJoined = Reader::kMaxLine + kMaxBody;

  // Gives a message that is whole, or nothing: a part was taken, and more is to
  // come. A beat, an abort or a watch may come between the parts of a message,
  // since they are about the connection, and is given at once. Error: it is no
  // message, it is any other message between the parts of one, or the parts are
  // more than kMaxJoined bytes.
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
