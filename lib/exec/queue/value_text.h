// Values as text: the lines that print gives.
#pragma once

#include <string_view>

#include "base/writer.h"
#include "stream/type.h"

namespace gt::exec {

// "l = tensor f32[2] 0.5 1\n": all values, row-major, shortest digits that
// read back the same. `data` null: zeros.
void write_tensor(Writer& out, std::string_view name, const Type& type,
                  const void* data);
// "l = fail \"...\"\n"
void write_failure(Writer& out, std::string_view name,
                   std::string_view message);

}  // namespace gt::exec
