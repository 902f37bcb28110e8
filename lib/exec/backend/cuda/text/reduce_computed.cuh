// Reductions of what a kernel computes, element by element, of its operands: a
// struct Computed then takes the place of Elements (reduce.cuh).
#pragma once

#include "pointwise.cuh"
#include "reduce.cuh"
