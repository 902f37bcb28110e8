// The null backend, which computes nothing: shapes, costs and order are real,
// but values are not, and print gives zeros. It serves for sizing a program,
// for measuring what surrounds the arithmetic and, with BackendOptions::pace,
// for rehearsing a run on machines that are not there: each line then sleeps
// for the time that such a machine would take.
#pragma once

#include <memory>

#include "exec/backend/backend.h"

namespace gt::exec {

std::unique_ptr<Backend> make_null_backend(const BackendOptions& options);

}  // namespace gt::exec
