// Kernels over rows that compute, element by element, what they read: a struct
// Computed then takes the place of Memory (reduce.cuh).
#pragma once

#include "norms.cuh"
#include "pointwise.cuh"
#include "softmax.cuh"
