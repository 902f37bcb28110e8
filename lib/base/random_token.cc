#include "base/random_token.h"

#include <sys/random.h>

#include "base/hex.h"
#include "base/result.h"

namespace gt {

std::string random_token() {
  char bytes[16];
  GT_CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  return to_hex({bytes, sizeof bytes});
}

}  // namespace gt
