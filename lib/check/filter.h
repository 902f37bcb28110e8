// gt-check: a stream in, the same stream with its inferred types out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "check/words.h"

namespace gt::check {

struct CheckJob {
  std::vector<std::string> files;  // "-" or none: standard input
  TypingMode options;
  bool quiet = false;
  bool trace = false;
  bool memory = false;  // say at the end what ranks hold and edges carry
};

// Findings go to `say`. Returns the status, which the end mark carries.
Exit check(const CheckJob& job, Writer& out,
           const std::function<void(std::string_view)>& say);

}  // namespace gt::check
