// What the kernels of point-wise computations include that do several runs at
// once.
#pragma once

#include "items.cuh"
#include "pointwise.cuh"
