// Converts runs of elements from one dtype to another, as cast does.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/backend/cpu/loops.h"
#include "stream/type.h"

namespace gt::exec::cpu {

// Returns the function that converts, or null if the dtypes are the same.
Convert converter(Dtype from, Dtype to, const Loops& loops);

// An operand converted to the dtype that a kernel computes in.
class Converted {
 public:
  Converted(const Type& type, Dtype to, const Loops& loops);
  // Returns the converted operand; `data` itself if the dtypes are the same.
  const void* get(const void* data);

 private:
  int64_t n_;
  Convert convert_;
  std::vector<char> data_;
};

// A result that a kernel computes in the dtype `from`.
class Returned {
 public:
  Returned(const Type& type, Dtype from, const Loops& loops);
  // Returns where to compute it: `data` itself if the dtypes are the same.
  void* place(void* data);
  // Converts the result to `data`, after the kernel has computed it.
  void store(void* data) const;

 private:
  int64_t n_;
  Convert convert_;
  std::vector<char> data_;
};

}  // namespace gt::exec::cpu
