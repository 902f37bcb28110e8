// Remedies: lines of the stream that would mend a line which breaks a typing
// rule. gt-check prints each as "fix: LINE".
#pragma once

#include <string>
#include <vector>

#include "spmd/infer.h"

namespace gt::check {

// Returns the remedies of one fault, each enough by itself; none if no single
// line mends it. A remedy has one of two forms. The first is a new line, to
// stand before the faulty one, which must then read the new line's result:
// "y1@0-3 = all_reduce y@0-3 over=tp src=P dst=R   # sum forward, sum
// backward", for an operand y. The remark mostly follows; it says what the line
// sends over the links, for the value and for its gradient. The second is the
// faulty line itself with other keys or notes, to take its own place.
std::vector<std::string> remedies(const ReadLine& line, const TypeFault& fault);

}  // namespace gt::check
