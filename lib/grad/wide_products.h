// The gradient of a weight in f32 whose product was taken of its cast to f16 or
// bf16 is a product of f16 or bf16, and then a cast to f32: what was added up
// in f32 is rounded, and made as long as it was. No line of the program asks
// for the rounding, so the product leaves its result in f32 (out=f32), and the
// cast is left out.
#pragma once

#include "grad/reverse.h"

namespace gt::grad {

// Changes each product that no line but such a cast reads.
void widen_products(const ValueTypes& types, GradientProgram& program);

}  // namespace gt::grad
