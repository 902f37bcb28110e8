// Suggestions for error messages: what may have been meant by a line whose op,
// key, operand or name is unknown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ops/op.h"
#include "stream/line.h"

namespace gt {

// Returns "; did you mean 'concat' (torch.cat)?" for `cat`: the ops that
// another library calls so, by Row::source, or else one that is spelt alike; ""
// if there is none. Of a word like np.concatenate, the part behind the last dot
// counts.
std::string suggest_op(std::string_view word);

// Returns the error for a line whose op is unknown, with a suggestion: another
// op, or a missing '=', or a missing op.
Error unknown_op(const Line& line);

// Returns the suggestion for a line with too many or too few operands: numbers
// among them that belong in a key, an operand that is written as a key, a
// missing type, or an op that another library calls by this name; "" if there
// is none.
std::string suggest_form(const Line& line, const Op& op);

// Returns "; numbers stand in a key: shape=2,3", for numbers in the place of a
// tensor; "" if the op has no key that takes numbers.
std::string suggest_number_key(const Op& op, std::string_view numbers);

// Returns "; did you mean 'axis' (dimensions)?" for an unknown key: the op's
// key that PyTorch or NumPy calls so, or one that is spelt alike, or an operand
// of that name; else the op's usage.
std::string suggest_key(const Op& op, std::string_view word);

// Returns the error for operand i, whose name holds nothing on `ranks`, the
// ranks on which the line reads it (none: a name without ranks). `known` are
// names that hold something, as "p@0-1" or "a". If the name holds something
// elsewhere, the error says where: "sum: 'p' has no piece on rank 2; it lives
// on p@0-1". Else it is "sum: unknown name 'y'", with a suggestion: a name that
// is spelt alike, quotes that a path lacks, or gt's name for another library's
// dtype.
Error unknown_name(const Line& line, size_t i,
                   const std::vector<int64_t>& ranks,
                   const std::vector<std::string_view>& known);

}  // namespace gt
