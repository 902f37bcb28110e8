// Mixed precision, as the config wants it (precision: bf16). A product of f32,
// forward or backward, is written in other lines:
//
//   _s0 = cast x bf16
//   _s1 = cast w bf16
//   y = matmul _s0 _s1 out=f32
//
// So products read half of the bytes and add in f32, and everything else, as
// weights, moments, norms, losses and gradients, is in f32 as the program says.
// What a product reads is sent between ranks after its cast.
//
// The cast of a weight is kept beside it (ShardValue::narrow) until the weight
// is bound anew, so it is made once a step. The cast of another value is kept
// until a product comes that does not read it.
#pragma once

#include <optional>

#include "shard/config.h"
#include "shard/line_work.h"

namespace gt::shard {

// Returns the dtype in which the line is to read its operands, if it is a
// product of f32 to which the config gives another. The steps of an expansion
// are not: their op has decided.
std::optional<Dtype> precision_of(const LineWork& work, const Config& config);

// Returns true if such a product reads this argument in the other dtype.
bool is_narrowed(const Call& call, size_t argument);

// Returns true if the argument is a layer's weight, which the next lines of the
// step will read, too.
bool reads_weight(const LineWork& work, size_t argument);

}  // namespace gt::shard
