// The placeholders (Row::placeholder) of the ops between ranks, for the text of
// their gradients.
#pragma once

#include <string>
#include <string_view>

#include "ops/call.h"

namespace gt {

// {from} and {to}: the letters of src= and dst=. {same}: "1" if src= and dst=
// are the same type, else "0". {members}: how many ranks a group has.
std::string ends_word(const Call& call, std::string_view name, size_t each);
// Knows the placeholders of ends_word(), and {back} or {x.back}: the
// split_sizes= of the exchange that brings the gradient's pieces back; "" if
// that needs none.
std::string exchange_word(const Call& call, std::string_view name, size_t each);
// Knows the placeholders of exchange_word(), and {dual_src} {dual_dst}: the
// types of the gradients of values of type src= and dst=: R for P, P for R,
// else the same.
std::string dual_word(const Call& call, std::string_view name, size_t each);

}  // namespace gt
