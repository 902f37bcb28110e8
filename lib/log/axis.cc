#include "log/axis.h"

#include <algorithm>
#include <cmath>

namespace gt::log {

std::vector<double> ticks(double low, double high, int count, int& digits) {
  digits = 0;
  const double span = high - low;
  if (!(span > 0) || !std::isfinite(span)) return {low};
  const double rough = span / std::max(count, 1);
  const double power = std::floor(std::log10(rough));
  double step = std::pow(10.0, power);
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (factor * step >= rough * 0.999) {
      step *= factor;
      break;
    }
  }
  if (!(step > 0)) return {low};  // no step divides the span
  digits = static_cast<int>(
      std::clamp(-std::floor(std::log10(step * 1.001)), 0.0, 20.0));
  std::vector<double> out;
  const double first = std::ceil(low / step - 1e-9);
  for (double k = first; k * step <= high + step * 1e-9; ++k) {
    out.push_back(k * step);
    if (out.size() > 1000) break;
  }
  return out;
}

}  // namespace gt::log
