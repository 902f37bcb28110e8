// Finds a backend by name: one that is built in, or a plug-in, a shared object
// that is loaded when it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend/backend.h"

namespace gt::exec {

// A number for the interface between gt and its plug-ins. It comes from the
// sizes of the types that both sides use, and from a first number, which is to
// be raised by hand when Backend, Kernel or Device change, or a type comes to
// mean something else at the same size.
constexpr uint64_t plugin_interface() {
  uint64_t out = 5;
  for (const size_t size :
       {sizeof(Row), sizeof(Op), sizeof(Argument), sizeof(Call), sizeof(Type),
        sizeof(BackendOptions), sizeof(Error)}) {
    out = out * 1'000'003 + size;
  }
  return out;
}

// A plug-in defines one constant of this type, with C linkage and the name
// gt_backend. It is linked with no library of gt: what it calls is found in the
// program that loads it. A plug-in whose `interface` is not plugin_interface()
// of that program is refused, and `make` is not called.
struct BackendPlugin {
  uint64_t interface = plugin_interface();
  Result<std::unique_ptr<Backend>> (*make)(const BackendOptions& options);
  // The names of the devices that this host has for it, as BackendOptions
  // numbers them; null: it has none to choose from, as one of the host.
  Result<std::vector<std::string>> (*devices)() = nullptr;
};

// `name` is "ref", "cpu" or "null", which are built in; with a slash, the path
// of a plug-in; else NAME of a plug-in ../lib/gt/NAME.so, as seen from the
// folder of the running program, and nowhere else. A plug-in stays loaded.
// Errors: there is no such backend; a file that cannot be loaded; one that
// defines no gt_backend; one whose interface number differs from this program's
// plugin_interface(), since it was compiled with headers of another gt; what
// the backend itself refuses, such as an isa that is unknown or that this
// machine lacks, or a device where there is none to choose from. Nothing else
// tells whether a plug-in fits: types that have the same sizes but mean
// something else are found only if the first number was raised.
Result<std::unique_ptr<Backend>> make_backend(std::string_view name,
                                              const BackendOptions& options);

// The names of the devices that the backend may have, by their numbers. Errors:
// those of make_backend(); it has none to choose from; what it says itself
// where the host has none.
Result<std::vector<std::string>> backend_devices(std::string_view name);

}  // namespace gt::exec
