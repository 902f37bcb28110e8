// The text of a call: a line of the stream.
#pragma once

#include <span>
#include <string>

#include "client/include/gt/c.h"
#include "client/names.h"
#include "stream/type.h"

namespace gt::client {

// Appends "y = op x 2 axis=1", and neither notes nor LF. Values are written by
// their names.
void append_call(const gt_instruction& call,
                 std::span<const Names::Name> results, std::string& out);

// Copies the numbers of "t5 = tensor f32[2] 1 2", a result's line, to memory,
// row-major in the value's dtype. Fails if the line says that the value failed,
// or is none of this type.
void read_result(std::string_view line, const gt_type& type, void* bytes);
// Appends " 1 2", numbers from memory.
void append_values(const gt_type& type, const void* bytes, std::string& out);
// The type as the rest of gt has it. Fails if its sizes are none of a tensor.
Type checked_type(const gt_type& type);
// "f32[2,3]".
std::string type_text(const gt_type& type);

int64_t elements_of(const gt_type& type);

}  // namespace gt::client
