// Where a line stands, for messages: a file as the user knows it, and a number.
#pragma once

#include <cstdint>
#include <string>

#include "base/message.h"

namespace gt::exec {

struct Where {
  const std::string* file = nullptr;  // outlives the queue
  uint64_t line = 0;
  Place place() const { return {*file, line}; }
};

}  // namespace gt::exec
