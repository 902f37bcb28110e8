// Where the axis of a plot or a timeline has its marks: at round numbers.
#pragma once

#include <vector>

namespace gt::log {

// Multiples of 1, 2 or 5 times a power of ten within [low, high], about `count`
// of them. Sets `digits` to how many each needs after the point.
std::vector<double> ticks(double low, double high, int count, int& digits);

}  // namespace gt::log
