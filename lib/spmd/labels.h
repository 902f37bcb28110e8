// What the values of a line are called: registers, and lines of results.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stream/line.h"

namespace gt {

// The first operand that is a name; null without one.
const Operand* first_name(const Line& line);

// The name whose space is the line's, and its mesh's; "" without one.
std::string_view space_name(const Line& line);

// What a print of the line is called: as=, its operand, or "print" when it is
// malformed, since each print gives a line.
std::string print_label(const Line& line);

// The names that a placed line binds, "x@0" and so on; as many as can be told
// of a line that is wrong. Of wanted ranks only (empty: all are wanted).
std::vector<std::string> bound_names(
    const Line& line, const std::function<bool(int64_t rank)>& wanted = {});

// What the failure of a placed print is called, a name for each line that it
// owes its reader; likewise. What is put together is printed by the first rank.
std::vector<std::string> print_labels(
    const Line& line, const std::function<bool(int64_t rank)>& wanted = {});

}  // namespace gt
