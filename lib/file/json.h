// Reads the part of JSON that the headers of safetensors files need: strings,
// whole numbers and punctuation. The text may hold any bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gt {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  // Each skips blanks and reads one token. If another one stands there, it
  // returns false and the token stays.
  bool take(char c);                   // a punctuation character
  bool take_string(std::string& out);  // escapes resolved, valid UTF-8
  bool take_count(uint64_t& out);      // a whole number, 0 or more
  bool at_end();

  // Returns the index of the next byte, for errors.
  size_t position() const { return at_; }

 private:
  void skip();
  bool take_escape(std::string& out);
  bool take_hex(uint32_t& out);

  std::string_view text_;
  size_t at_ = 0;
};

// Returns the text as a JSON string: in quotes, with control bytes escaped.
std::string json_quote(std::string_view text);

}  // namespace gt
