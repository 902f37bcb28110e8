// The digest of a file's bytes (XXH3, hash.h), computed as they come. It tells
// bytes that were changed by accident, not by somebody who means to.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gt {

class Digest {
 public:
  Digest();
  // Of these bytes alone. Of many it is faster than hash_bytes().
  static uint64_t of(std::string_view bytes);

  void add(std::string_view bytes);
  // As hash_bytes() of all that was added.
  uint64_t value() const;
  uint64_t bytes() const { return bytes_; }
  void clear();

 private:
  struct State;
  std::shared_ptr<State> state_;
  uint64_t bytes_ = 0;
};

// Brings the digest to that of the file's first `bytes`: reads what was not
// added yet, or everything if more was. Errors: the system's message; the file
// ends before; `stop`, if there is one, has become true.
Status digest_up_to(Digest& digest, int fd, uint64_t bytes,
                    const std::atomic<bool>* stop = nullptr);

// A digest as fields of messages and names have it: 16 hexadecimal digits.
std::string digest_text(uint64_t digest);

}  // namespace gt
