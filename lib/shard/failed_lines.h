// Lines that are wrong, or that read what failed: their results are failures,
// which have no ranks.
#pragma once

#include <string>

#include "shard/line_work.h"
#include "shard/materializer.h"
#include "shard/placed_writer.h"

namespace gt::shard {

class FailedLines {
 public:
  FailedLines(ValueTable& values, PlacedWriter& writer,
              Materializer& materializer)
      : values_(values), writer_(writer), materializer_(materializer) {}

  // Writes the failure of the line, and returns its error.
  Status reject(const Line& line, const Error& error, LineContext& at);
  // Of a line some of whose names have ranks, and some not: so may its results.
  Status reject_mixed(const Line& line, const Error& error, LineContext& at);
  // The line is a failure, or reads one: it spreads.
  void spread(LineWork& work);

  static bool reads_failure(const LineWork& work);
  // The form of `y = fail "..."`.
  static Status check(const Line& line);

 private:
  void write(const Line& line, const std::string& message, LineContext& at);

  ValueTable& values_;
  PlacedWriter& writer_;
  Materializer& materializer_;
};

}  // namespace gt::shard
