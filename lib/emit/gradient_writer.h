// Writes the lines of a gradient: gives the results names and notes, binds
// them, and frees the internal names among them.
#pragma once

#include <string>

#include "emit/gradient.h"

namespace gt::emit {

// Writes the program that reverse() made for a grad line: targets' gradients
// under the names that the line gives them, the rest under internal names
// ("_e0"), each freed right after its last use. Unless the grad says retain=1
// the history is consumed first. A target that the loss does not reach gets
// zeros and a warning.
void write_gradient(const GradientParts& parts, const LineState& state,
                    const grad::GradientProgram& program,
                    const GradientTargets& targets, std::string& out);

}  // namespace gt::emit
