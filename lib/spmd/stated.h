// The sizes of the whole that a placed line with split= states; and helpers to
// make errors with a column.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ops/op.h"
#include "stream/line.h"
#include "stream/type.h"

namespace gt {

// Return an error "OP: MESSAGE" at a column of the line, or at its op.
Error at(uint32_t column, const Line& line, const std::string& message);
Error at_op(const Line& line, const std::string& message);
inline bool is_name(const Operand& o) { return o.kind == Operand::Kind::kName; }
// Returns the index of a key of the line; -1 if it is not there.
int key_at(const Line& line, std::string_view name);

// The whole that split= cuts, and where the line states its shape: in a type
// among its operands, or in shape=.
struct Whole {
  Shape shape;
  int operand = -1;           // the index of the type among the operands, or -1
  int key = -1;               // the index of shape= among the keys, or -1
  Dtype dtype = Dtype::kF32;  // if a type states the shape
};
// Finds the whole. Errors: the line states no shape, or what it states is none.
Result<Whole> find_whole(const Line& line);

// Returns the line as one device would run it on whole tensors: without split=
// and part=, and without shape= unless that is a constant of the op's own
// (states_sizes(), ops/part.h). The result keeps views into the line.
Line whole_line(const Line& line, const Op& op);

}  // namespace gt
