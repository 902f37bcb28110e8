// Lines that would mend a line, to be pasted in place of it or before it.
#pragma once

#include <string>
#include <vector>

#include "spmd/infer.h"

namespace gt::check {

// What mends the fault, each with its cost forward and backward; nothing if no
// one line does.
std::vector<std::string> remedies(const ReadLine& line, const TypeFault& fault);

}  // namespace gt::check
