// Runs of elements from one dtype to another, as cast does.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/backend/cpu/loops.h"
#include "stream/type.h"

namespace gt::exec::cpu {

// Null when the dtypes are the same.
Convert converter(Dtype from, Dtype to, const Loops& loops);

// An operand brought to the dtype that is computed in.
class Converted {
 public:
  Converted(const Type& type, Dtype to, const Loops& loops);
  // The operand's own data where the dtypes are the same.
  const void* get(const void* data);

 private:
  int64_t n_;
  Convert convert_;
  std::vector<char> data_;
};

// A result computed in `from`.
class Returned {
 public:
  Returned(const Type& type, Dtype from, const Loops& loops);
  // Where to compute it: `data` itself where the dtypes are the same.
  void* place(void* data);
  // Brings it to `data`.
  void store(void* data) const;

 private:
  int64_t n_;
  Convert convert_;
  std::vector<char> data_;
};

}  // namespace gt::exec::cpu
