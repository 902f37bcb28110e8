// Remedies: lines of the stream that would mend a line which breaks a rule of
// the types. gt-check prints each as "fix: LINE".
#pragma once

#include <string>
#include <vector>

#include "spmd/infer.h"

namespace gt::check {

// The remedies of one fault, each enough by itself; none if no one line mends
// it. A remedy has one of two forms. A new line goes before the faulty one,
// which then is to read its result: "y1@0-3 = all_reduce y@0-3 over=tp src=P
// dst=R   (sum forward, sum backward)", for an operand y. What it sends over
// the links, for the value and for its gradient, mostly follows in parentheses,
// which are no part of the line. Or the faulty line itself comes, with other
// keys or notes, to take its own place.
std::vector<std::string> remedies(const ReadLine& line, const TypeFault& fault);

}  // namespace gt::check
