// Messages whose body is a part of a file (file_talk.h). They are written
// without copying the bytes, and checked when they arrive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/digest.h"
#include "base/result.h"
#include "net/frame.h"
#include "net/wire.h"

namespace gt::net {

// The state of a file, as sent to the other side. `version` is a word that
// changes when the file does. `is_settled` is true if the file changed long
// enough ago that no later change can yield the same word.
struct FileState {
  uint64_t size = 0;
  std::string version;
  bool is_settled = false;
};
// Errors: the descriptor is not a regular file, or the system's message.
Result<FileState> state_of_file(int fd);

// Add whole=, version= and settled= to a message, and read them.
void add_state(MessageWriter& message, const FileState& state);
Result<FileState> read_state(const Message& message);

// Makes a message with the file's bytes [offset, offset + bytes) as its body,
// at most kMaxBody of them, and with the fields offset= and digest=. If `whole`
// is null, the digest is that of the body; else the bytes are added to `whole`,
// and the digest is its new value. Errors: those of read_at().
Result<Frame> file_message(MessageWriter message, int fd, uint64_t offset,
                           size_t bytes, Digest* whole = nullptr);

// Error: the body does not have the digest that its message states, or the
// message states none.
Status check_body(const Message& message);
// Returns the message's field digest=; none if it is missing or malformed.
std::optional<uint64_t> digest_of(const Message& message);

}  // namespace gt::net
