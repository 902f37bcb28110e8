// The bytes of a tensor as those who write a file get them: whole, or piece by
// piece from somewhere that shows only some of them at a time.
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
  // Gives all bytes in their order to `take`. An error of its own, or that of
  // `take`, ends it.
  using Give = std::function<Status(const Take& take)>;

  explicit TensorBytes(Give give) : give_(std::move(give)) {}
  // Those at an address.
  TensorBytes(const void* data, size_t bytes)
      : give_([data, bytes](const Take& take) { return take(data, bytes); }) {}

  Status each(const Take& take) const { return give_(take); }

 private:
  Give give_;
};

}  // namespace gt
