// The backend that computes nothing: shapes, costs and order are real, values
// are not, and print gives zeros. For sizing a program, and for measuring what
// surrounds the arithmetic.
#pragma once

#include <memory>

#include "exec/backend/backend.h"

namespace gt::exec {

std::unique_ptr<Backend> make_null_backend();

}  // namespace gt::exec
