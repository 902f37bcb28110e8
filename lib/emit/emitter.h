// gt-emit's main loop: runs a program's inputs through one session into one
// stream.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "base/writer.h"
#include "emit/session.h"

namespace gt::emit {

// One input of a program: a file, standard input, or the text of an option -e.
struct EmitInput {
  enum class Kind { kFile, kStdin, kText };
  // Returns the input at a path; "-" is standard input.
  static EmitInput file(const std::string& path) {
    return {path == "-" ? Kind::kStdin : Kind::kFile, path, 1};
  }

  Kind kind = Kind::kStdin;
  std::string text;   // a path, or the lines themselves
  size_t rounds = 1;  // how often a kFile or kStdin is fed
};

struct EmitJob {
  EmitOptions session;
  std::vector<EmitInput> inputs;
  bool at_stdin = false;  // write #at= for lines of standard input too
  // Answer a round of a loop that equals the one before with what was written
  // for that one (stream/replay.h).
  bool replay = true;
};

// Writes "#gt 1", the stream, "#end STATUS", and returns that status: the worst
// of the messages' status and the status at the end of each stream that was
// read. An input that cannot be read is the last. Messages go to `say`, as
// whole lines that end in LF.
Exit emit(const EmitJob& job, Writer& writer,
          const std::function<void(std::string_view)>& say);

}  // namespace gt::emit
