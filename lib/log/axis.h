// The marks on the axis of a plot or a timeline: round numbers.
#pragma once

#include <vector>

namespace gt::log {

// Returns about `count` multiples of 1, 2 or 5 times a power of ten within
// [low, high]. Sets `digits` to the number of digits that they need after the
// point.
std::vector<double> ticks(double low, double high, int count, int& digits);

}  // namespace gt::log
