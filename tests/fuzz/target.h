// What every fuzzer begins with: the head of the function that takes an input,
// and how it says that the input shows a mistake of gt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// The function's name is that which libFuzzer calls. In gt_tests, which runs
// the seeds of all fuzzers, each has a name of its own.
#ifdef GT_FUZZ_SEEDS
#define GT_FUZZ_TARGET(name) \
  extern "C" int name##_fuzz(const uint8_t* data, size_t size)
#else
#define GT_FUZZ_TARGET(name) \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
#endif

namespace gt::fuzz {

// Ends the process unless `holds`; libFuzzer then keeps the input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace gt::fuzz
