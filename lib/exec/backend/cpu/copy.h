// Copies a strided view into row-major memory.
#pragma once

#include <cstddef>

#include "exec/backend/view.h"

namespace gt::exec::cpu {

class StridedCopy {
 public:
  StridedCopy() = default;
  // `size` is the size of an element in bytes: 1, 2, 4 or 8.
  StridedCopy(const View& view, size_t size, int threads);

  // `from` is the address of the operand's element at the view's offset.
  void run(const void* from, void* to) const;

 private:
  template <typename T>
  void rows(const T* from, T* to) const;
  template <typename T>
  void tiles(const T* from, T* to) const;

  // The view's dimensions, joined where that is possible: behind the outer ones
  // come rows_ rows, which lie apart_ from each other, of inner_ elements,
  // which lie step_ apart.
  Shape outer_;
  Strides strides_{};
  int64_t rows_ = 1, apart_ = 0;
  int64_t inner_ = 1, step_ = 1;
  int64_t count_ = 0;
  // If the rows lie side by side in the operand, as those of a transpose do,
  // they are walked in square tiles.
  bool tiled_ = false;
  size_t size_ = 4;
  int threads_ = 1;
};

}  // namespace gt::exec::cpu
