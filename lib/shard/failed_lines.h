// Writes what becomes of lines that cannot be rewritten: lines that are wrong
// (an unknown name or op, shapes that do not match, scopes of the config that
// contradict each other), and lines that read a failure. Their results become
// failures, "y = fail MESSAGE", without ranks. A print of one prints the
// failure. A save saves it, so that loading the file fails, too. The rest of
// the stream goes on.
//
// An op that no axis can cut does not make a line fail: its operands are made
// whole on each rank (candidates.h).
#pragma once

#include <string>
#include <string_view>

#include "shard/line_work.h"
#include "shard/materializer.h"
#include "shard/placed_writer.h"

namespace gt::shard {

class FailedLines {
 public:
  FailedLines(ValueTable& values, PlacedWriter& writer,
              Materializer& materializer)
      : values_(values), writer_(writer), materializer_(materializer) {}

  // Writes the failure of a line that is wrong. Returns the error, so that the
  // caller can report it.
  Status reject(const Line& line, const Error& error, LineContext& at);
  // Does the same for a line of which some names have ranks and others have
  // none. Each result becomes a failure as it is written in the line, with or
  // without ranks.
  Status reject_mixed(const Line& line, const Error& error, LineContext& at);
  // Writes a line `y = fail "..."`, or a line that reads a failure
  // (reads_failure). Its results become failures with the same message.
  void spread(LineWork& work);
  // Forgets the failure that the name holds, if it holds one. Returns false if
  // it holds a value.
  bool forget(std::string_view name);

  static bool reads_failure(const LineWork& work);
  // Error: the line, whose op is fail, does not have the form `y... = fail
  // "..."`.
  static Status check(const Line& line);

 private:
  void write(const Line& line, const std::string& message, LineContext& at);

  ValueTable& values_;
  PlacedWriter& writer_;
  Materializer& materializer_;
};

}  // namespace gt::shard
