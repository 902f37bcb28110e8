// The filter gt-check: reads a stream and writes the same stream with its
// inferred types.
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
  bool quiet = false;   // write no stream
  bool trace = false;   // say each line's types, "7 matmul(...) -> ..."
  bool memory = false;  // say at the end what ranks hold and copies send
};

// Checks the files in order and writes the stream to `out`. Problems go to
// `say`, as whole lines that end in LF, each with its remedies as "fix: LINE";
// the problems of a line that is looked up again are not repeated. Returns the
// status, which the end mark carries as well: kFailed after a fault of types,
// kRejected after a line that cannot be read, or the status that the input
// carries, whichever is the worst.
Exit check(const CheckJob& job, Writer& out,
           const std::function<void(std::string_view)>& say);

}  // namespace gt::check
