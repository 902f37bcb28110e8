#include "base/units.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace gt {
namespace {

// Returns three digits, for the number before a unit; a smaller whole number is
// returned as it is.
std::string three_digits(double value) {
  if (value == std::floor(value) && std::abs(value) < 1000) {
    return fmt::format("{:.0f}", value);
  }
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

std::string scaled(double value, double step, const char* const* units,
                   size_t count) {
  size_t unit = 0;
  while (std::abs(value) >= step * 0.9995 && unit + 1 < count) {
    value /= step;
    ++unit;
  }
  const std::string text = three_digits(value);
  return *units[unit] == '\0' ? text : text + " " + units[unit];
}

}  // namespace

std::string count_text(double value) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  return scaled(value, 1000, kUnits, std::size(kUnits));
}

std::string bytes_text(double value) {
  static constexpr const char* kUnits[] = {"B",   "KiB", "MiB", "GiB",
                                           "TiB", "PiB", "EiB"};
  return scaled(value, 1024, kUnits, std::size(kUnits));
}

std::string time_text(double nanoseconds) {
  static constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  return scaled(nanoseconds, 1000, kUnits, std::size(kUnits));
}

std::string decimal(double value, int digits) {
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

}  // namespace gt
