// Loops recognises rounds of a loop that do exactly what the round before did.
// A round is what came from the first line of a block (block_finder.h) to its
// last. When one is recognised, the rounds behind it that have the same bytes
// are not looked at: no line of theirs is hashed, looked up, decoded, placed or
// issued by itself. Dispatcher::repeat() does the work for all of them
// together: it counts their seqs and their work, notes which results are owed,
// and lets the block's part in the outbox run that many more times.
//
// This is right for the following reason. What a line does whose route
// RouteCache finds depends only on the types of the registers that it names and
// on what PathOrder knows of files. So if two rounds have the same text and
// consist of such lines alone, if these types are the same after both, and if
// meanwhile no other register lost ranks (ValueLocations::carved()) and
// PathOrder did not change, then any number of such rounds can follow.
//
// Rounds are never recognised while a log is written, which has a row for each
// line. With several workers, rounds that have a line without ranks are not
// recognised, since its placement depends on loads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "route/loads.h"
#include "route/route.h"
#include "route/value_locations.h"
#include "stream/block_finder.h"

namespace gt::route {

// A round of a loop as it was dispatched.
struct Round {
  // Result lines that a worker owes for a print of the round.
  struct Owed {
    uint32_t worker = 0;
    std::string_view heads;  // as in RouteOwed; a view into the round's route
    uint64_t bytes = 0;      // approximate size of the result lines
    uint64_t seq = 0;        // the print's seq, counted from the round's first
  };
  std::string text;                  // its lines as they came
  uint64_t lines = 0;                // lines of the text, comments included
  std::vector<const Route*> routes;  // the routes of its instructions
  std::vector<Owed> owed;
  uint64_t owed_bytes = 0;
  uint64_t seqs = 0;            // the number of seqs it took
  std::vector<uint64_t> costs;  // its work by worker, in nanoseconds
  // The types of all registers its lines name, at its end.
  std::vector<TypeId> types;
};

// The state of the Dispatcher between two lines, where a round begins or ends.
struct LoopState {
  uint64_t seq = 0;  // the seq of the next line to be issued
  // The number of changes so far: it grows when a symbol loses ranks to another
  // one, and when PathOrder changes.
  uint64_t changes = 0;
  const Loads& loads;
  const ValueLocations& locations;
};

class Loops {
 public:
  // If `repeats` is false, only blocks are found, and repeating() is always
  // null.
  explicit Loops(bool repeats) : repeats_(repeats) {}

  // To be called first, for each line of the client, whatever it is.
  void take_text(std::string_view line) {
    is_steady_ = false;
    if (is_on_) add_text(line);
  }
  // To be called for each instruction, with the hash of its text without notes.
  BlockFinder::Step take(uint64_t hash) {
    const BlockFinder::Step step = finder_.next(hash);
    if (step.breaks || !(finder_.is_inside() || step.ends)) drop();
    return step;
  }
  // The line is the first of a known block: a round begins, unless one is being
  // followed already.
  void begin_block(std::string_view line, const LoopState& now) {
    if (is_on_) return;
    begin_round(now);
    if (is_on_) add_text(line);
  }
  // An instruction was issued by this route of the cache; `seq` is its number.
  // With several workers, a line without ranks may be given to another one next
  // time, so its round does not count.
  void add(const Route& route, size_t workers, uint64_t seq) {
    if (!is_on_) return;
    if (!route.is_placed && workers > 1) return drop();
    note(route, seq);
  }
  // The line was the last of a block: the round ends, and the next may begin.
  // `is_whole` is what Outbox::end_block() returned. Returns true if the round
  // is recognised, see repeating().
  bool end_block(bool is_whole, const LoopState& now);
  // Something came that identical rounds cannot have: a line that is not in the
  // cache, a mark, another file. The current round does not count.
  void drop() { is_on_ = was_one_ = is_steady_ = false; }

  // Returns the round that the last line ended if it is recognised, else null.
  // Whenever its text comes next, that does exactly the same.
  const Round* repeating() const { return is_steady_ ? &last_ : nullptr; }
  // All rounds so far were dispatched, and a new one begins.
  void begin_round(const LoopState& now);

 private:
  static constexpr size_t kMostBytes = size_t{2} << 20;  // in a round's text

  void add_text(std::string_view line) {
    if (coming_.text.size() > kMostBytes) {
      is_on_ = false;
      return;
    }
    coming_.text.append(line).push_back('\n');
    ++coming_.lines;
  }
  void note(const Route& route, uint64_t seq);
  bool close(const LoopState& now);

  BlockFinder finder_;
  bool repeats_;
  bool is_on_ = false;  // coming_ has all lines since a round began
  Round coming_;        // the round that has begun and not ended
  uint64_t first_seq_ = 0;
  uint64_t changes_ = 0;    // LoopState::changes when coming_ began
  Round last_;              // the round before it
  bool was_one_ = false;    // last_ was a whole round of cached lines alone
  bool is_steady_ = false;  // last_ is recognised, and no line came since
};

}  // namespace gt::route
