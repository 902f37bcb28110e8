// The little of JSON that file headers need: strings, numbers that count, and
// punctuation. It takes any bytes and never reads past them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gt {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  // Each skips blanks, and takes what is there or nothing.
  bool take(char c);
  bool take_string(std::string& out);  // valid UTF-8, escapes resolved
  bool take_count(uint64_t& out);      // a whole number, 0 or more
  bool at_end();

  size_t position() const { return at_; }

 private:
  void skip();
  bool take_escape(std::string& out);
  bool take_hex(uint32_t& out);

  std::string_view text_;
  size_t at_ = 0;
};

// With quotes; control bytes are escaped.
std::string json_quote(std::string_view text);

}  // namespace gt
