// Feeds one program to a session, input by input. It knows the marks that frame
// an emitted stream, and replays the rounds of loops.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/exit.h"
#include "emit/held_saves.h"
#include "emit/session.h"
#include "stream/marks.h"
#include "stream/replay.h"
#include "stream/source.h"

namespace gt::emit {

struct ProgramOptions {
  EmitOptions session;
  // Answer a round of a loop that equals the one before with what was written
  // for that one (stream/replay.h).
  bool replay = true;
  // Called before a line that may take more than a tenth of a second; what it
  // returns lives until that line and what becomes of it are done. May be
  // empty.
  std::function<std::shared_ptr<void>()> begin_long_work;
};

class ProgramRun {
 public:
  // Called with what a line, or a replayed round of lines, is replaced by:
  // lines that end in LF, which may be none; and with what a client's lines
  // cost, in nanoseconds of one worker (usage.h). Returns whether more is
  // wanted.
  using Output = std::function<bool(std::string_view lines, uint64_t cost)>;

  // Messages go to `say`, whole lines that end in LF.
  ProgramRun(const ProgramOptions& options, Output output,
             std::function<void(std::string_view)> say);

  // Begins an input, which people know by `name`. `at`: its lines are written
  // with #at=.
  void begin_input(std::string_view name, bool at);
  // Feeds the lines that the source has, until it gives kEnd. Returns false if
  // nothing more must be fed: the source could not be read, no more output is
  // wanted, or a line was refused under EmitOptions::fail_fast.
  bool feed(Source& source);
  // Ends the input, which had `lines` lines. Prints a message if it was cut
  // short.
  void end_input(bool is_empty_pipe, size_t lines);
  // Prints that an input could not be read, and counts that in the status.
  void fail_input(std::string_view name, int error);
  // Must be called after the last input. Returns the worst of the messages'
  // status and the status at the end of each stream that was read.
  Exit finish();

  // Returns the worst status since the last call; to be called between two
  // inputs.
  Exit take_status();

  // Writes the lines that free all that the program holds (Session::let_go()).
  // Must be called after finish().
  void let_go();

  // Returns what the program has cost and holds, if its usage is counted.
  const Usage& usage() const { return session_.usage(); }
  // True if nothing more must be fed.
  bool has_stopped() const { return session_.stopped(); }

 private:
  bool may_take_long(std::string_view line) const;
  bool take_mark(std::string_view line, Origin origin);
  void take_line(std::string_view line, Origin origin, uint64_t cost);
  void give_up_saves(std::string_view why);
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
  HeldSaves saves_;
  uint32_t file_ = 0;
  Exit status_ = Exit::kDone;
  bool goes_on_ = true;  // more output is wanted
  std::string out_;
};

}  // namespace gt::emit
