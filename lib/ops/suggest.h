// What may have been meant by a word that the op table does not know.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/op.h"
#include "stream/line.h"

namespace gt {

// "; did you mean 'concat' (torch.cat)?": the op whose Source line calls it
// so, or one that is spelt alike; "" if there is none.
std::string suggest_op(std::string_view word);

// "unknown op 'x'" of a line, with what may be meant: another op, a missing
// '=', or an op that is missing.
Error unknown_op(const Line& line);

// "; did you mean 'axis'?": a key of the op that PyTorch calls so, or that is
// spelt alike; else the op's usage.
std::string suggest_key(const Op& op, std::string_view word);

// "sum: unknown name 'y'" of operand i, which is called `name` there, with
// what may be meant: one of the `known` names, a path without its quotes, or
// another library's dtype.
Error unknown_name(const Line& line, size_t i, std::string_view name,
                   const std::vector<std::string_view>& known);

}  // namespace gt
