// Loops in a stream: blocks of lines that come again (block_finder.h), and
// among the rounds of such a block those that do just what the one before did,
// so that nobody need look at the lines of the next.
//
// What a kept line does follows from the types of the registers that it names
// and from the order of files, see RouteCache and PathOrder. So two rounds of
// one text, of kept lines alone, after both of which these types are the same
// and between which no other register and no order changed, can be followed by
// any number of their like.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "route/block_finder.h"
#include "route/homes.h"
#include "route/loads.h"
#include "route/route.h"

namespace gt::route {

// A round of a block as it was dispatched.
struct Round {
  struct Owed {
    uint32_t worker = 0;
    std::string_view heads;  // of a kept line
    uint64_t bytes = 0;
    uint64_t seq = 0;  // counted from the round's first
  };
  std::string text;                  // its lines as they came
  uint64_t lines = 0;                // of the text
  std::vector<const Route*> routes;  // its instructions
  std::vector<Owed> owed;
  uint64_t owed_bytes = 0;
  uint64_t seqs = 0;            // numbers that it took
  std::vector<uint64_t> costs;  // nanoseconds, by worker
  std::vector<TypeId> types;    // of what its lines name, when it ended
};

// What a round finds when it begins, and leaves when it ends.
struct LoopState {
  uint64_t seq = 0;      // of the next line that is issued
  uint64_t changes = 0;  // of other registers and of the order of files
  const Loads& loads;
  const Homes& homes;
};

class Loops {
 public:
  // Unless it `repeats`, rounds are found but never handed out by repeating().
  explicit Loops(bool repeats) : repeats_(repeats) {}

  // A line as it came, whatever it holds; all are to be handed in.
  void take_text(std::string_view line) {
    is_steady_ = false;
    if (is_on_) add_text(line);
  }
  // An instruction, by the hash of its text.
  BlockFinder::Step take(uint64_t hash) {
    const BlockFinder::Step step = finder_.next(hash);
    if (step.breaks || !(finder_.is_inside() || step.ends)) drop();
    return step;
  }
  // The line is the first of a block that came before.
  void begin_block(std::string_view line, const LoopState& now) {
    if (is_on_) return;
    begin_round(now);
    if (is_on_) add_text(line);
  }
  // An instruction was dispatched by this kept route, as number `seq`. A line
  // without ranks is placed by what workers have to do, so only one worker is
  // no choice.
  void add(const Route& route, size_t workers, uint64_t seq) {
    if (!is_on_) return;
    if (!route.is_placed && workers > 1) return drop();
    note(route, seq);
  }
  // The last line was the last of a block; `is_whole`: on each worker it is
  // one. True: another round of its text would do the same.
  bool end_block(bool is_whole, const LoopState& now);
  // Something came that is no part of a round which can come again.
  void drop() { is_on_ = was_one_ = is_steady_ = false; }

  // The round that the last line ended, if another one of its text would do
  // just the same; else null.
  const Round* repeating() const { return is_steady_ ? &last_ : nullptr; }
  // More of these rounds came; the next one begins.
  void begin_round(const LoopState& now);

 private:
  static constexpr size_t kMostBytes = size_t{2} << 20;

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
  bool is_on_ = false;  // all lines are those of coming_
  Round coming_;
  uint64_t first_seq_ = 0;  // of coming_
  uint64_t changes_ = 0;    // when it began
  Round last_;              // before it
  bool was_one_ = false;    // last_ may come again
  bool is_steady_ = false;  // and no line came since
};

}  // namespace gt::route
