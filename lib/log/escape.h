// Text of a stream, which may hold any bytes, as other formats take it. All of
// them give valid UTF-8: what is none of it, and control bytes, become U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace gt::log {

std::string utf8_text(std::string_view text);
// For an element or an attribute in double quotes.
std::string xml_text(std::string_view text);
// Within double quotes.
std::string json_text(std::string_view text);
std::string dot_text(std::string_view text);

}  // namespace gt::log
