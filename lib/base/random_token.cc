#include "base/random_token.h"

#include <sys/random.h>

#include "base/hex.h"
#include "base/shortage.h"

namespace gt {

void need_random(void* bytes, size_t count) {
  if (::getrandom(bytes, count, 0) == static_cast<ssize_t>(count)) return;
  fail_short("the system gives no random numbers (getrandom)");
}

std::string random_token() {
  char bytes[16];
  need_random(bytes, sizeof bytes);
  return to_hex({bytes, sizeof bytes});
}

}  // namespace gt
