// What a placed line states of the whole, and errors at its places.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ops/op.h"
#include "stream/line.h"
#include "stream/type.h"

namespace gt {

Error at(uint32_t column, const Line& line, const std::string& message);
Error at_op(const Line& line, const std::string& message);
inline bool is_name(const Operand& o) { return o.kind == Operand::Kind::kName; }
// Its index among the keys; -1 without it.
int key_at(const Line& line, std::string_view name);

// Where split= finds the whole's sizes.
struct Whole {
  Shape shape;
  int operand = -1;  // a type among the operands
  int key = -1;      // shape= among the keys
  Dtype dtype = Dtype::kF32;
};
// Errors: none are stated, or they are no sizes.
Result<Whole> find_whole(const Line& line);

// The line as one device runs it: without split=, and without a shape= that
// only says of what whole split= speaks.
Line whole_line(const Line& line, const Op& op);

}  // namespace gt
