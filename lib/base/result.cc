#include "base/result.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace gt {

void check_failed(const char* file, int line, const char* text) {
  std::fprintf(stderr, "gt: internal error: %s:%d: %s\n", file, line, text);
  errno = 0;  // so that the program's guard sees no shortage
  std::abort();
}

}  // namespace gt
