// The backends that there are: those that are built in, and plug-ins, which are
// loaded when they are asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "exec/backend/backend.h"

namespace gt::exec {

// Tells the headers that a plug-in was compiled with from those of another gt:
// by the sizes of what both sides share, and by a number that grows when these
// come to mean something else.
constexpr uint64_t plugin_interface() {
  uint64_t out = 1;
  for (const size_t size :
       {sizeof(Row), sizeof(Op), sizeof(Argument), sizeof(Call), sizeof(Type),
        sizeof(BackendOptions), sizeof(Error)}) {
    out = out * 1'000'003 + size;
  }
  return out;
}

// What a shared object that brings a backend defines, with C linkage and under
// the name gt_backend. It calls functions of the program that loads it.
struct BackendPlugin {
  uint64_t interface = plugin_interface();
  Result<std::unique_ptr<Backend>> (*make)(const BackendOptions& options);
};

// "ref", "cpu", "null"; a name without a slash of a plug-in NAME.so that is
// installed beside the program, in ../lib/gt; or a path of one. A plug-in stays
// loaded. Errors: no such backend, a plug-in of another gt, an isa that is
// unknown or that this machine lacks.
Result<std::unique_ptr<Backend>> make_backend(std::string_view name,
                                              const BackendOptions& options);

}  // namespace gt::exec
