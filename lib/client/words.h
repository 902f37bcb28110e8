// Converts operands and the values of keys to text of the language.
#pragma once

#include <string>

#include "client/include/gt/c.h"
#include "stream/line.h"

namespace gt::client {

// Appends the word; nothing for a value. A float that is a whole number is
// written with a point, "2.0", since the spelling decides the category
// (stream/number.h).
void append_word(std::string& out, const gt_word& word);

// Appends "f32[2,3]". The sizes may be any, also such as no tensor has.
void append_type(std::string& out, const gt_type& type);

// Returns the kind of operand that the word is. A value is a name.
Operand::Kind kind_of(const gt_word& word);

}  // namespace gt::client
