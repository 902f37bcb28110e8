// What kernels read and write.
#pragma once

#include <memory>
#include <string>

namespace gt::exec {

// Why a value was not made, "model.gt:7: log: ..."; what a print of it says.
// Whatever is made of the value fails for the same reason.
using Fault = std::shared_ptr<const std::string>;

// A value's memory and its error slot. The address of the memory stands as long
// as a queue knows the value, so that the thread which enqueues and the one
// which runs may both read it; the slot belongs to the thread that runs.
struct Value {
  void* data = nullptr;  // as the backend gave it
  Fault fault;           // null: it is well
};

}  // namespace gt::exec
