// One program on its way through a session, input by input. Knows the marks
// that frame an emitted stream, and replays the rounds of loops.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "emit/session.h"
#include "stream/marks.h"
#include "stream/replay.h"
#include "stream/source.h"

namespace gt::emit {

struct ProgramOptions {
  EmitOptions session;
  // Answer the rounds of a loop that equal the one before by what was written
  // for that one (stream/replay.h).
  bool replay = true;
  // Called before a line that may take more than a tenth of a second; what it
  // returns lives until that line and what becomes of it are done. May be
  // empty.
  std::function<std::shared_ptr<void>()> begin_long_work;
};

class ProgramRun {
 public:
  // Gets what becomes of a line, or of a replayed round of lines: lines that
  // end in LF, which may be none; and what a guest's cost, in nanoseconds of
  // one worker (usage.h). Returns whether more is wanted.
  using Output = std::function<bool(std::string_view lines, uint64_t cost)>;

  // Messages go to `say`, whole lines that end in LF.
  ProgramRun(const ProgramOptions& options, Output output,
             std::function<void(std::string_view)> say);

  // The lines to come are of the input that people know by that name. `at`:
  // they are written with #at=.
  void begin_input(std::string_view name, bool at);
  // Feeds the lines that the source has, until it gives kEnd. False: nothing
  // more is to be fed, since the source could not be read, no more output is
  // wanted, or a line was refused under EmitOptions::fail_fast.
  bool feed(Source& source);
  // The input ended after so many lines. Says if it was cut short.
  void end_input(bool is_empty_pipe, size_t lines);
  // An input could not be read: that is said, and counts in the status.
  void fail_input(std::string_view name, int error);
  // After the last input. Returns the worst of what was said and of what the
  // streams that were read end with.
  Exit finish();

  // The worst of what was said since it was asked last, between two inputs.
  Exit take_status();

  // After finish(): writes the lines that let go of all that the program holds
  // (Session::let_go()).
  void let_go();

  // What it has cost and holds, if its quota is counted.
  const Usage& usage() const { return session_.usage(); }
  // Whether nothing more is to be fed.
  bool has_stopped() const { return session_.stopped(); }

 private:
  bool may_take_long(std::string_view line) const;
  bool take_mark(std::string_view line, Origin origin);
  bool put(std::string_view lines, uint64_t cost);

  bool replays_;
  bool is_tape_;
  std::string program_;
  std::function<std::shared_ptr<void>()> begin_long_work_;
  Output output_;
  std::function<void(std::string_view)> say_;
  Session session_;
  Replay replay_;
  Marks marks_;
  uint32_t file_ = 0;
  Exit status_ = Exit::kDone;
  bool goes_on_ = true;  // more output is wanted
  std::string out_;
};

}  // namespace gt::emit
