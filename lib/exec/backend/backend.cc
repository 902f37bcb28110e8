#include "exec/backend/backend.h"

#include "exec/backend/cpu/cpu.h"
#include "exec/backend/null/null.h"
#include "exec/backend/ref/ref.h"

namespace gt::exec {

Result<std::unique_ptr<Backend>> make_backend(std::string_view name,
                                              const BackendOptions& options) {
  if (name == "cpu") return make_cpu_backend(options);
  if (name == "ref") return make_ref_backend(options);
  if (name == "null") return make_null_backend();
  return Error{"unknown backend '" + std::string(name) +
               "'; there are cpu, ref and null"};
}

}  // namespace gt::exec
