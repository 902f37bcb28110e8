// Runs describes a region, a rectangular part of a row-major value, as runs of
// bytes. With it a worker reads or sends a part of a value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "exec/memory/device.h"
#include "stream/type.h"

namespace gt::exec::comm {

class Runs {
 public:
  Runs() = default;
  // The region has, in each dimension, `count` elements from `start` on, of a
  // value of type `of`. It must lie within the value (fits()).
  Runs(const Type& of, const Shape& start, const Shape& count);
  static bool fits(const Type& of, const Shape& start, const Shape& count);

  size_t bytes() const { return run_ * runs_; }
  // True if the region is one run, which begins offset() bytes into the value.
  bool is_contiguous() const { return runs_ <= 1; }
  size_t offset() const { return offset_; }

  // Returns the region's address on `device`; `from` is the address of the
  // whole value. If the region is one run, it is returned in place; else the
  // runs are copied together at `pack_to`. Errors are those of the device.
  Result<const void*> find(const void* from, void* pack_to,
                           Device& device) const;

  // Copies `size` bytes of the region, in row-major order from byte `first` on,
  // to the host address `to`. `from` is the whole value's address on `device`.
  Status download(const void* from, size_t first, size_t size, char* to,
                  Device& device) const;

 private:
  template <typename Copy>
  Status each_run(size_t first, size_t size, const Copy& copy) const;
  size_t offset_of_run(size_t run) const;

  size_t offset_ = 0;  // of the first run in the value
  size_t run_ = 0;     // bytes
  size_t runs_ = 0;
  Shape outer_;  // counts; product is runs_
  // Strides of the dimensions in outer_, in bytes.
  std::array<size_t, Shape::kMaxRank> strides_{};
};

}  // namespace gt::exec::comm
