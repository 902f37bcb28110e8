// The names under which the values of a line appear: the names that it binds on
// each rank ("x@0"), and those of the result lines that a print gives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stream/line.h"

namespace gt {

// Returns the first operand that is a name; null if there is none.
const Operand* first_name(const Line& line);

// Returns the name whose name space ("c1" of "c1/w") is that of the line, and
// so determines which mesh the line means: its first result, else its first
// operand that is a name; "" if it has neither.
std::string_view space_name(const Line& line);

// Returns a name in the name space, "c1/x" for "c1" and "x" for "", for
// functions that take a name and are to be asked about the space itself.
std::string name_in(std::string_view space);

// Returns the name that a print gives its result: as=, or its operand. A
// malformed print gives "print", since every print must give a line.
std::string print_label(const Line& line);

// Returns the names that a line binds, one for each rank: "x@0", "x@1". For a
// malformed line, returns as many as can be found out. Only names on wanted
// ranks are returned; an empty filter wants all.
std::vector<std::string> bound_names(
    const Line& line, const std::function<bool(int64_t rank)>& wanted = {});

// Returns the names of the result lines that the reader expects of a print that
// failed: one for each rank, or, if it puts a whole together (split=), one,
// from the first rank. `wanted` as above.
std::vector<std::string> print_labels(
    const Line& line, const std::function<bool(int64_t rank)>& wanted = {});

}  // namespace gt
