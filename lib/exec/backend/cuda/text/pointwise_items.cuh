// Point-wise computations that do many runs at once.
#pragma once

#include "items.cuh"
#include "pointwise.cuh"
