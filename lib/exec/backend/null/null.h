// The backend that computes nothing: shapes, costs and order are real, values
// are not, and print gives zeros. For sizing a program, for measuring what
// surrounds the arithmetic and, with BackendOptions::pace, for rehearsing a run
// on machines that are not there: each line then takes the time that such a
// machine would take, asleep.
#pragma once

#include <memory>

#include "exec/backend/backend.h"

namespace gt::exec {

std::unique_ptr<Backend> make_null_backend(const BackendOptions& options);

}  // namespace gt::exec
