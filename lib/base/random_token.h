// Names and secrets that nobody can guess, and that no two processes choose
// alike.
#pragma once

#include <string>

namespace gt {

// Returns 128 random bits as 32 hexadecimal digits.
std::string random_token();

}  // namespace gt
