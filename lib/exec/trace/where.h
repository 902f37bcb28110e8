// Where a line stands, for messages: a file as the user knows it, and a number.
#pragma once

#include <cstdint>
#include <string>

#include "base/message.h"

namespace gt::exec {

struct Where {
  const std::string* file = nullptr;  // outlives the queue; null: not known
  uint64_t line = 0;
  Place place() const { return file == nullptr ? Place{} : Place{*file, line}; }
};

}  // namespace gt::exec
