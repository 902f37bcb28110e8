// The placeholders of the rows that work between ranks.
#pragma once

#include <string>
#include <string_view>

#include "ops/call.h"

namespace gt {

// {from} and {to}: src= and dst= without the dimension of S. {same}: whether
// they are one. {members}: how many ranks a group has.
std::string ends_word(const Call& call, std::string_view name, size_t each);
// These, and {back} or {x.back}: the split_sizes= of the way back.
std::string exchange_word(const Call& call, std::string_view name, size_t each);
// These, and {dual_src} {dual_dst}: the ends of the gradient.
std::string dual_word(const Call& call, std::string_view name, size_t each);

}  // namespace gt
