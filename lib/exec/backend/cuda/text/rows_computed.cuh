// What the kernels over rows include that compute their operand element by
// element: a struct Computed takes the place of Memory (reduce.cuh).
#pragma once

#include "norms.cuh"
#include "pointwise.cuh"
#include "softmax.cuh"
