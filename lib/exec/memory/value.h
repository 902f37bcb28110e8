// A value, as the queues know it: its memory, or why it was not made.
#pragma once

#include <memory>
#include <string>

namespace gt::exec {

// Why a value was not made, "model.gt:7: log: ...": the text that a print of it
// says. Whatever is computed from the value has the same fault.
using Fault = std::shared_ptr<const std::string>;

// `data` is constant as long as a queue knows the value, so the thread that
// enqueues and the one that runs may both read it. `fault` belongs to the
// thread that runs.
struct Value {
  void* data = nullptr;  // an address of the backend's device
  Fault fault;           // null: it is well
};

}  // namespace gt::exec
