// What may have been meant by a word that the op table does not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/op.h"
#include "stream/line.h"

namespace gt {

// "; did you mean 'concat' (torch.cat)?": the ops whose Source lines call them
// so, or one that is spelt alike; "" if there is none. Of np.concatenate the
// part behind the last dot counts.
std::string suggest_op(std::string_view word);

// "unknown op 'x'" of a line, with what may be meant: another op, a missing
// '=', or an op that is missing.
Error unknown_op(const Line& line);

// Of a line with too many or too few operands: a key for numbers that stand
// among them, an operand that is written as a key, or an op of another name
// that another library calls so; "" if nothing is known.
std::string suggest_form(const Line& line, const Op& op);

// "; numbers stand in a key: shape=2,3": where the op takes these numbers,
// which stand where a tensor should; "" if it has no key for any.
std::string suggest_number_key(const Op& op, std::string_view numbers);

// "; did you mean 'axis' (dimensions)?": a key of the op that PyTorch or NumPy
// calls so, or that is spelt alike; else an operand, or the op's usage.
std::string suggest_key(const Op& op, std::string_view word);

// "sum: unknown name 'y'" of operand i, which is called `name` there, with
// what may be meant: one of the `known` names, a path without its quotes, or
// another library's dtype.
Error unknown_name(const Line& line, size_t i, std::string_view name,
                   const std::vector<std::string_view>& known);

}  // namespace gt
