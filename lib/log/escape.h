// Escapes text of a stream, which may hold any bytes, for other formats. All
// functions return valid UTF-8: control bytes, and bytes that are no UTF-8,
// become U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace gt::log {

// Escapes for the content of an element, or an attribute in double quotes.
std::string xml_text(std::string_view text);
// These escape for a string in double quotes.
std::string json_text(std::string_view text);
std::string dot_text(std::string_view text);

}  // namespace gt::log
