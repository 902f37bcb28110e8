#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "log/axis.h"
#include "log/plot.h"

namespace gt::log {
namespace {

// The margin above and below the values, as a share of their range.
constexpr double kMargin = 0.05;

std::string label_of(double value, int digits) {
  const double size = std::abs(value);
  if (digits > 5 || size >= 1e6) return fmt::format("{:.3g}", value);
  const std::string text = fmt::format("{:.{}f}", value, digits);
  return text == fmt::format("{:.{}f}", -0.0, digits) ? text.substr(1) : text;
}

}  // namespace

std::vector<PlotScale> PlotScale::make(const std::vector<Series>& series,
                                       const PlotOptions& options) {
  if (!options.own_scale) return {PlotScale(series, options.log_scale)};
  size_t count = 0;
  for (const Series& s : series) count = std::max(count, s.scale() + 1);
  std::vector<PlotScale> out;
  for (size_t scale = 0; scale < count; ++scale) {
    out.emplace_back(series, options.log_scale, scale);
  }
  return out;
}

PlotScale::PlotScale(const std::vector<Series>& series, bool log_scale,
                     size_t scale)
    : log_(log_scale) {
  double low = INFINITY;
  double high = -INFINITY;
  for (const Series& s : series) {
    steps_ = std::max(steps_, s.steps());
    if (scale != kAll && s.scale() != scale) continue;
    low = std::min(low, log_ ? s.least_positive() : s.low());
    high = std::max(high, s.high());
  }
  if (log_) {
    low = std::log10(low);
    high = std::log10(high);
  }
  // There is nothing but nan, for example; or nothing above 0 for logarithms.
  if (!(low <= high)) low = high = 0;
  if (low == high) {
    const double around = low == 0 ? 1 : std::abs(low) / 2;
    low -= around;
    high += around;
  }
  // The range of all doubles cannot be represented, so half of it is computed.
  const double margin = (high / 2 - low / 2) * 2 * kMargin;
  low_ = std::max(low - margin, -1e308);
  high_ = std::min(high + margin, 1e308);
}

double PlotScale::y(double value) const {
  const double at = log_ ? std::log10(value) : value;
  if (!std::isfinite(at)) return NAN;
  return std::clamp((at / 2 - low_ / 2) / (high_ / 2 - low_ / 2), 0.0, 1.0);
}

double PlotScale::x(double step) const {
  if (steps_ == 1) return 0.5;
  return (step - 1) / static_cast<double>(steps_ - 1);
}

std::vector<PlotScale::Tick> PlotScale::y_ticks(int count) const {
  std::vector<Tick> out;
  int digits = 0;
  if (!log_) {
    for (const double value : ticks(low_, high_, count, digits)) {
      out.push_back({y(value), label_of(value, digits)});
    }
    return out;
  }
  const auto add = [&out, this](double value) {
    const double at = std::log10(value);
    if (at < low_ || at > high_) return;
    out.push_back({y(value), fmt::format("{:g}", value)});
  };
  // Powers of ten, as many as there is room for; then one more decade.
  const double decades = high_ - low_;
  const double each = std::max(std::ceil(decades / count), 1.0);
  for (double k = std::floor(low_); k <= high_; k += each) {
    const double power = std::pow(10.0, k);
    add(power);
    if (decades > 2) continue;
    add(2 * power);
    add(5 * power);
  }
  return out;
}

std::vector<PlotScale::Tick> PlotScale::x_ticks(int count) const {
  std::vector<Tick> out;
  int digits = 0;
  if (steps_ > 1) out.push_back({0, "1"});
  for (const double step :
       ticks(1, static_cast<double>(steps_), count, digits)) {
    // Not over the 1 at the left end.
    const bool free = steps_ == 1 || x(step) > 0.5 / count;
    if (step != std::floor(step) || step < 1 || !free) continue;
    out.push_back({x(step), fmt::format("{:.0f}", step)});
  }
  return out;
}

const char* word_of(Mark::Kind kind) {
  switch (kind) {
    case Mark::Kind::kNan:
      return "nan";
    case Mark::Kind::kInf:
      return "inf";
    case Mark::Kind::kMinusInf:
      return "-inf";
    case Mark::Kind::kFail:
      return "fail";
  }
  return "";
}

}  // namespace gt::log
