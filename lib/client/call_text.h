// The text of calls and values, as lines of the stream.
#pragma once

#include <span>
#include <string>

#include "client/include/gt/c.h"
#include "client/names.h"
#include "stream/type.h"

namespace gt::client {

// Appends "y = op x 2 axis=1", without notes and LF. Values are written by
// their names.
void append_call(const gt_instruction& call,
                 std::span<const Names::Name> results, std::string& out);

// Copies the numbers of a result's line, such as "t5 = tensor f32[2] 1 2", to
// memory, row-major and in the value's dtype. Fails if the line says that the
// value failed, or if it is no value of this type.
void read_result(std::string_view line, const gt_type& type, void* bytes);
// Appends the elements in memory as numbers: " 1 2".
void append_values(const gt_type& type, const void* bytes, std::string& out);
// Converts the type to the form of the rest of gt. Fails if no tensor can have
// its sizes.
Type checked_type(const gt_type& type);
// Returns the type as text: "f32[2,3]".
std::string type_text(const gt_type& type);

int64_t elements_of(const gt_type& type);

}  // namespace gt::client
