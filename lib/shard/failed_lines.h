// What gt-shard writes for lines that it cannot rewrite: those that are wrong
// (an unknown name or op, shapes that do not fit, scopes of the config that
// contradict each other), and those that read a failure. Their results become
// failures, "y = fail MESSAGE", without ranks; a print prints the failure; a
// save saves it, so that a load of the file fails, too. The rest of the stream
// goes on.
//
// An op that no axis can cut is not among these: its operands are made whole on
// each rank (candidates.h).
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

  // Writes the failure of a line that is wrong, and returns the error, for the
  // caller to tell.
  Status reject(const Line& line, const Error& error, LineContext& at);
  // The same for a line some of whose names have ranks and some have none: each
  // result fails as it is written, with ranks or without.
  Status reject_mixed(const Line& line, const Error& error, LineContext& at);
  // Writes a line `y = fail "..."`, or one that reads a failure
  // (reads_failure): its results become failures that say the same.
  void spread(LineWork& work);

  static bool reads_failure(const LineWork& work);
  // Error: the line, of op fail, has not the form `y... = fail "..."`.
  static Status check(const Line& line);

 private:
  void write(const Line& line, const std::string& message, LineContext& at);

  ValueTable& values_;
  PlacedWriter& writer_;
  Materializer& materializer_;
};

}  // namespace gt::shard
