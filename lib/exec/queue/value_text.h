// Writes values as text: the result lines of print.
#pragma once

#include <string_view>

#include "base/writer.h"
#include "stream/type.h"

namespace gt::exec {

// Writes "l = tensor f32[2] 0.5 1\n": all values in row-major order, each with
// the fewest digits that read back as the same number. If `data` is null, all
// values are written as 0.
void write_tensor(Writer& out, std::string_view name, const Type& type,
                  const void* data);
// Writes "l = fail \"...\"\n".
void write_failure(Writer& out, std::string_view name,
                   std::string_view message);

}  // namespace gt::exec
