// Messages whose body is a part of a file (file_talk.h): written without a copy
// of the bytes, and checked when they come.
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

// A file as the other side knows it. `version` is a word that changes when the
// file does; `is_settled`: it changed long enough ago that no later change can
// have the same word.
struct FileState {
  uint64_t size = 0;
  std::string version;
  bool is_settled = false;
};
// Error: the descriptor is of no regular file, or the system's message.
Result<FileState> state_of_file(int fd);

// Adds whole=, version= and settled= to a message, and reads them.
void add_state(MessageWriter& message, const FileState& state);
Result<FileState> read_state(const Message& message);

// A message with the file's bytes [offset, offset + bytes) as its body, with
// offset=, and with digest= of them; if `whole` stands there, they are added to
// it, and the digest is its value then. At most kMaxBody bytes. Errors: as
// read_at().
Result<Frame> file_message(MessageWriter message, int fd, uint64_t offset,
                           size_t bytes, Digest* whole = nullptr);

// Whether a body has the digest that its message states. Error: it has not, or
// the message states none.
Status check_body(const Message& message);
// A digest as a field says it; nothing if it is none.
std::optional<uint64_t> digest_of(const Message& message);

}  // namespace gt::net
