// Operands and the values of keys, as text of the language.
#pragma once

#include <string>

#include "client/include/gt/c.h"
#include "stream/line.h"

namespace gt::client {

// Appends the word; of a value nothing. A float that is a whole number keeps a
// point, "2.0", since the spelling decides the category (stream/number.h).
void append_word(std::string& out, const gt_word& word);

// Appends "f32[2,3]"; any sizes, also those that no tensor has.
void append_type(std::string& out, const gt_type& type);

// Which kind of operand it is; a value is a name.
Operand::Kind kind_of(const gt_word& word);

}  // namespace gt::client
