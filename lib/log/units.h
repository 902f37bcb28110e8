// Quantities as people read them.
#pragma once

#include <string>

namespace gt::log {

// Three digits and a unit: "1.25 k", "640", "3.4 G"; of bytes "1.2 MiB"; of
// nanoseconds "12.3 ms".
std::string count_text(double value);
std::string bytes_text(double value);
std::string time_text(double nanoseconds);

// As printf's %.*f, whatever the locale, without zeros at the end.
std::string decimal(double value, int digits);

}  // namespace gt::log
