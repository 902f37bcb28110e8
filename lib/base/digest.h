// A digest (XXH3, hash.h) of a file's bytes, computed as the bytes come. It
// detects accidental changes only: it is no protection against deliberate ones.
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
  // Returns the digest of these bytes alone. For many bytes this is faster than
  // hash_bytes().
  static uint64_t of(std::string_view bytes);

  void add(std::string_view bytes);
  // Returns the digest of all that was added: what hash_bytes() would give for
  // it.
  uint64_t value() const;
  uint64_t bytes() const { return bytes_; }
  void clear();

 private:
  struct State;
  std::shared_ptr<State> state_;
  uint64_t bytes_ = 0;
};

// Brings `digest` to the digest of the file's first `bytes` bytes: reads those
// that were not added yet, or starts over if more were. Errors: the system's
// message; the file is shorter; `stop` is not null and has become true.
Status digest_up_to(Digest& digest, int fd, uint64_t bytes,
                    const std::atomic<bool>* stop = nullptr);

// Returns a digest as messages and file names spell it: 16 hexadecimal digits.
std::string digest_text(uint64_t digest);

}  // namespace gt
