// A value as the queues see it: its memory, or the reason why it was not made.
#pragma once

#include <memory>
#include <string>

namespace gt::exec {

// The reason why a value was not made, "model.gt:7: log: ...", which a print of
// the value shows. Whatever is computed from the value has the same fault.
using Fault = std::shared_ptr<const std::string>;

// `data` does not change while a queue uses the value, so both the enqueuing
// thread and the running thread may read it. `fault` belongs to the running
// thread.
struct Value {
  void* data = nullptr;  // an address of the backend's device
  Fault fault;           // null: the value has not failed
};

}  // namespace gt::exec
