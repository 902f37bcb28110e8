// How the lines of a gradient are written: names, notes, aliases and frees.
#pragma once

#include <string>

#include "emit/gradient.h"

namespace gt::emit {

// Writes the program that reverse() made for a grad line: targets' gradients
// under the names that the line gives them, the rest under names of ours, each
// freed right after its last use.
void write_gradient(const GradientParts& parts, const LineState& state,
                    const grad::GradientProgram& program,
                    const GradientTargets& targets, std::string& out);

}  // namespace gt::emit
