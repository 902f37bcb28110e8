// Turns text of a stream, which may hold any bytes, into text of other formats.
// All of these give valid UTF-8: bytes that are none, and control bytes, become
// U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace gt::log {

std::string utf8_text(std::string_view text);
// For the content of an element, or an attribute in double quotes.
std::string xml_text(std::string_view text);
// For a string in double quotes.
std::string json_text(std::string_view text);
std::string dot_text(std::string_view text);

}  // namespace gt::log
