// Finds a backend by name: a built-in one, or a plug-in, which is a shared
// object that is loaded when it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/backend/backend.h"

namespace gt::exec {

// Returns a number that identifies the interface between gt and its plug-ins.
// It is computed from the sizes of the types that both sides use and from a
// version number in its first line. Raise that number by hand when Backend,
// Kernel or Device change, or when a type changes its meaning but not its size.
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
// gt_backend. It is not linked with any library of gt: the functions that it
// calls are found in the program that loads it. A plug-in whose `interface`
// differs from that program's plugin_interface() is refused, and `make` is not
// called.
struct BackendPlugin {
  uint64_t interface = plugin_interface();
  Result<std::unique_ptr<Backend>> (*make)(const BackendOptions& options);
  // Lists the names of the devices that this host has for the plug-in, in the
  // order in which BackendOptions numbers them. Null if there is nothing to
  // choose from, as for a backend that computes on the host.
  Result<std::vector<std::string>> (*devices)() = nullptr;
};

// Makes the backend called `name`: "ref", "cpu" or "null", which are built in;
// if it contains a slash, the path of a plug-in; otherwise the NAME of a
// plug-in ../lib/gt/NAME.so, relative to the folder of the running program, and
// nowhere else. A plug-in stays loaded.
//
// Errors: there is no such backend; a file cannot be loaded; a file defines no
// gt_backend; its interface number differs from this program's
// plugin_interface(), because it was compiled with headers of another gt; the
// isa is none that gt knows; or the backend itself refuses the options, such as
// an isa that this machine lacks, or a device number where there is none to
// choose from. Nothing else tells whether a plug-in fits: a type that changed
// its meaning but not its size is noticed only if the version number in
// plugin_interface() was raised.
Result<std::unique_ptr<Backend>> make_backend(std::string_view name,
                                              const BackendOptions& options);

// Returns the names of the devices that the backend can use, in the order of
// their numbers. Errors: those of make_backend(); the backend has no devices to
// choose from; or the backend's own error if the host has none.
Result<std::vector<std::string>> backend_devices(std::string_view name);

}  // namespace gt::exec
