// Runs a program's inputs through one session into one stream.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "emit/session.h"

namespace gt::emit {

struct EmitInput {
  enum class Kind { kFile, kStdin, kText };
  // The input at a path; "-" is standard input.
  static EmitInput file(const std::string& path) {
    return {path == "-" ? Kind::kStdin : Kind::kFile, path, 1};
  }

  Kind kind = Kind::kStdin;
  std::string text;   // a path, or the lines themselves
  size_t rounds = 1;  // of kFile and kStdin: how often it is fed
};

struct EmitJob {
  EmitOptions session;
  std::vector<EmitInput> inputs;
  bool at_stdin = false;  // write #at= for lines of standard input too
  // Answer the rounds of a loop that equal the one before by what was written
  // for that one (stream/replay.h).
  bool replay = true;
};

// Writes "#gt 1", the stream, "#end STATUS", and returns that status: the worst
// of what was said and of what the streams that it read end with. An input that
// cannot be read is the last. Messages go to `say`, whole lines that end in LF.
Exit emit(const EmitJob& job, Writer& writer,
          const std::function<void(std::string_view)>& say);

}  // namespace gt::emit
