// gt-emit's core: checks a program line by line and writes the stream.
//
// A session knows the type of every live name and the history behind it. It
// writes each line as soon as it is read. The lines that it adds (aliases of
// values that a history needs, gradients, frees of internal names) stand right
// beside it.
//
// The session decides what kind of line each is and which steps it goes
// through. Its parts do the steps:
//   Ledger    what every name holds; binds and frees names, and writes the
//             aliases and frees that this takes
//   Operands  looks up what a line reads
//   Recorder  puts a checked line on the tape, and bounds the tape's length
//   Memos     answers lines of a known pattern at once
//   Seeds     the registers that stand in for seeds left out
//   Frees     the lines of free
//   Gradient  the lines of grad
//   Failures  what becomes of lines that are refused
//   SavedTypes  completes loads with the types of files
// LineWriter writes their lines, and Messages prints what is wrong.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit.h"
#include "emit/failures.h"
#include "emit/frees.h"
#include "emit/gradient.h"
#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/line_writer.h"
#include "emit/memos.h"
#include "emit/messages.h"
#include "emit/operands.h"
#include "emit/recorder.h"
#include "emit/saved_types.h"
#include "emit/seeds.h"
#include "emit/usage.h"
#include "program/line_cache.h"
#include "stream/pattern.h"
#include "stream/replay.h"

namespace gt::emit {

// The most bytes of a client's line: as long as its end has not come, all of it
// is kept, for each client.
inline constexpr size_t kMostOfClient = size_t{1} << 20;

struct EmitOptions {
  std::string program = "gt-emit";
  bool at = true;  // write #at= for lines read from files
  bool fail_fast = false;
  bool tape = false;           // print histories in place of the stream
  int64_t seed = 0;            // start of the register that stands in for seeds
  size_t history = 1'000'000;  // lines of history kept
  // The program is a client's: its paths are below `files`, which ends with
  // '/'. If `files` is "", the client has no files, and `no_files` is the
  // message that says why.
  bool is_client = false;
  std::string files;
  std::string no_files;
  // What was seen of the client's files; if it is empty, the session looks
  // itself.
  Look look;
  Quota quota;  // of a client
  // Returns the value of the note #recompute= that a line gets which lacks it,
  // or "" if it gets none. May be empty.
  std::function<std::string(const Line&)> region;
};

class Session : public Rewriter {
 public:
  // `say` is called with whole messages for people; they end in LF.
  Session(EmitOptions options, std::function<void(std::string_view)> say);

  // Adds an input, which is named once. "<stdin>" and "-e" lines get #at= only
  // if `at` (EmitJob::at_stdin).
  uint32_t add_file(std::string_view name, bool at) {
    return files_.add(name, at);
  }
  const std::string& file_name(uint32_t file) const {
    return files_.name(file);
  }

  // Checks one line, without its LF, and appends what replaces it to `out`:
  // lines that end in LF. A line that is refused becomes failures of its
  // results, is reported once, and counts in status().
  void feed(std::string_view line, Origin origin, std::string& out);
  // Refuses a line that was too long for the reader; `head` is its beginning.
  void reject_long(std::string_view head, Origin origin, std::string& out);
  // Prints what is wrong with a line that was fed before, and counts that in
  // status().
  void refuse(const std::string& why, Origin origin, std::string_view line) {
    messages_.error({why, 1}, origin, line);
  }
  // Says whether the lines to come stand between "#gt" and "#end", in a stream
  // that has been emitted before (Ledger::emitted).
  void set_emitted(bool emitted) { ledger_.emitted = emitted; }

  // Ends the input: with --tape, appends what is left of the history to the
  // text for people.
  void finish();
  // Appends the lines that free every live name and end every mesh, so that the
  // program holds nothing any more. Nothing may be fed after it.
  void let_go(std::string& out) const;
  // Returns the histories printed so far, with --tape.
  std::string take_tape() { return std::exchange(tape_text_, {}); }

  Exit status() const { return messages_.status(); }
  // Returns the status and resets it to kDone.
  Exit take_status() {
    messages_.tell_counts();
    return messages_.take_status();
  }
  bool stopped() const { return options_.fail_fast && status() != Exit::kDone; }

  // Sets `text` to everything that a later line can depend on, except for line
  // numbers; places are visited, always in the same order. Two sessions with
  // equal states write the same for the same input.
  void state(std::string& text, const PlaceVisitor& visit) override;
  // Returns roughly how many things state() goes through.
  size_t state_size() const override { return ledger_.tape.value_limit(); }
  size_t history() const override { return ledger_.tape.node_count(); }
  // Returns the number of messages so far: a round with a message is not like
  // another.
  size_t messages() const override { return messages_.count(); }
  void begin_round() override { round_cost_ = ledger_.usage.cost; }
  void end_round() override { round_cost_ = ledger_.usage.cost - round_cost_; }

  // usage() returns what a client has used, without the rounds that were
  // replayed; round_cost() returns the cost of each of these rounds.
  const Usage& usage() const { return ledger_.usage; }
  uint64_t round_cost() const { return round_cost_; }

 private:
  // Returns the pattern of the line, valid until the next line; null if it has
  // none (Pattern::scan).
  const Pattern* scan(std::string_view line);
  bool feed_known(const Pattern& pattern, std::string_view line, Origin origin,
                  std::string& out);

  bool answer_tape(std::string_view comment, std::string& out) const;

  // The kinds of line. Each function answers the line, or returns why it is
  // refused.
  Status instruction(LineState& state, std::string& out);
  Status declare(LineState& state, std::string& out);
  Status fail(LineState& state, std::string& out);
  Status grad(LineState& state, std::string& out);
  Status redistribute(LineState& state, std::string& out);
  Status compute(LineState& state, std::string& out);
  Status output(LineState& state, std::string& out);

  // The steps of a computing line. complete() adds operands that were left out.
  // bind() and bind_placed() find the operands and the results' types; they
  // return false if an operand holds a failure, which they have passed on, so
  // that the line is done.
  void note_region(LineState& state) const;
  Status complete(LineState& state, std::string& out);
  Result<bool> bind(LineState& state, std::string& out);
  Result<bool> bind_placed(LineState& state, std::string& out);
  Status type_placed(LineState& state);
  Result<std::optional<Grid>> read_pieces(LineState& state, std::string& out);
  // Finds the values that the line reads. Returns false if one of them is a
  // failure; the line was then answered (pass_failure).
  Result<bool> find_operands(LineState& state, std::string& out);
  Status pass_failure(LineState& state, const std::string& failed,
                      std::string& out);
  void add_recipe(const LineState& state);
  void bind_results(LineState& state);

  EmitOptions options_;
  InputFiles files_;
  Messages messages_;
  Ledger ledger_;
  LineWriter writer_{files_, ledger_};
  Seeds seeds_;
  Failures failures_{ledger_, messages_, writer_, seeds_};
  Operands operands_;
  Recorder recorder_;
  SavedTypes saved_{options_.is_client, options_.files, options_.no_files,
                    options_.look};
  Frees frees_{ledger_, writer_, seeds_};
  Memos memos_{ledger_};
  Gradient gradient_;
  // The scanned patterns of lines that come again.
  struct Scanned {
    std::string text;
    bool emitted;
    Pattern pattern;  // its names are views into `text`
  };
  LineCache<Scanned> scanned_{size_t{1} << 8};
  Pattern pattern_;  // the pattern of a line that is not in scanned_
  LineState state_;  // the line at hand; a member to keep its memory
  std::string tape_text_;
  uint64_t round_cost_ = 0;  // before end_round(): the cost when the round
                             // began
};

}  // namespace gt::emit
