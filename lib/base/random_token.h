// Names and secrets that nobody can guess, and that no two processes choose
// alike.
#pragma once

#include <cstddef>
#include <string>

namespace gt {

// Fills the bytes with random ones. Throws (base/shortage.h) if the system
// gives none.
void need_random(void* bytes, size_t count);

// Returns 128 random bits as 32 hexadecimal digits.
std::string random_token();

}  // namespace gt
