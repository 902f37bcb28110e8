// Messages as they were meant: what came in parts (more=1) is put together, up
// to the longest line there can be.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/reader.h"
#include "net/frame.h"
#include "net/wire.h"

namespace gt {

// A message that holds the bytes it views.
struct Letter {
  Message message;
  size_t bytes = 0;  // of the frame that completed it
  std::shared_ptr<const void> keep;
};

// One for each peer.
class Joiner {
 public:
  static constexpr size_t kMaxJoined = Reader::kMaxLine + kMaxBody;

  // Nothing: a part was taken, more is to come. Error: what is no message, a
  // message of another verb between the parts of one, more than kMaxJoined.
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

}  // namespace gt
