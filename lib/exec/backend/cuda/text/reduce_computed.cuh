// What the reductions include that compute their operand element by element: a
// struct Computed takes the place of Elements (reduce.cuh).
#pragma once

#include "pointwise.cuh"
#include "reduce.cuh"
