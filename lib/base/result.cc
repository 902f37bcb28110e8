#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace gt {

void check_failed(const char* file, int line, const char* text) {
  std::fprintf(stderr, "gt: internal error: %s:%d: %s\n", file, line, text);
  std::abort();
}

}  // namespace gt
