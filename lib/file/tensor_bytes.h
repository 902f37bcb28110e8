// Hands a tensor's bytes to code that writes a file: all at once, or piece by
// piece if they come from something that shows only some of them at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "base/result.h"

namespace gt {

class TensorBytes {
 public:
  // Takes some bytes, which may be gone once it has returned.
  using Take = std::function<Status(const void* data, size_t bytes)>;
  // Passes all bytes, in order, to `take`. Stops at an error of its own or of
  // `take`, and returns it.
  using Give = std::function<Status(const Take& take)>;

  explicit TensorBytes(Give give) : give_(std::move(give)) {}
  // Makes a TensorBytes of the bytes at an address.
  TensorBytes(const void* data, size_t bytes)
      : give_([data, bytes](const Take& take) { return take(data, bytes); }) {}

  Status each(const Take& take) const { return give_(take); }

 private:
  Give give_;
};

}  // namespace gt
