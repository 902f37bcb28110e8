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

// A line as a report about it shows it, with the column of its op.
struct ShownLine {
  Where where;
  std::string text;
  size_t column = 0;
};

}  // namespace gt::exec
