#include "exec/backend.h"

#include "exec/null/null.h"
#include "exec/ref/ref.h"

namespace gt {

Result<std::unique_ptr<Backend>> make_backend(std::string_view name,
                                              const BackendOptions& options) {
  if (name == "ref") return make_ref_backend(options);
  if (name == "null") return make_null_backend();
  return Error{"unknown backend '" + std::string(name) +
               "'; there are ref, cpu and null"};
}

}  // namespace gt
