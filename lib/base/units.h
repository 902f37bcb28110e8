// Texts of quantities for people.
#pragma once

#include <string>

namespace gt {

// Return three digits and a unit: count_text() "1.25 k", "640", "3.4 G";
// bytes_text() "1.2 MiB"; time_text() "12.3 ms".
std::string count_text(double value);
std::string bytes_text(double value);
std::string time_text(double nanoseconds);

// The same as printf's %.*f in any locale, without zeros at the end.
std::string decimal(double value, int digits);

}  // namespace gt
