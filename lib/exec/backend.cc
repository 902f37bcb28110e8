#include "exec/backend.h"

#include "exec/cpu/cpu.h"
#include "exec/null/null.h"
#include "exec/ref/ref.h"

namespace gt {

Result<std::unique_ptr<Backend>> make_backend(std::string_view name,
                                              const BackendOptions& options) {
  if (name == "cpu") return make_cpu_backend(options);
  if (name == "ref") return make_ref_backend(options);
  if (name == "null") return make_null_backend();
  return Error{"unknown backend '" + std::string(name) +
               "'; there are cpu, ref and null"};
}

}  // namespace gt
