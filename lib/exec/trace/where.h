// The place of a line for messages: the file, as the user named it, and the
// line number.
#pragma once

#include <cstdint>
#include <string>

#include "base/message.h"

namespace gt::exec {

struct Where {
  const std::string* file = nullptr;  // outlives the queue; null if not known
  uint64_t line = 0;
  Place place() const { return file == nullptr ? Place{} : Place{*file, line}; }
};

// A line with its text and the column of its op, as a report shows it.
struct ShownLine {
  Where where;
  std::string text;
  size_t column = 0;
};

}  // namespace gt::exec
