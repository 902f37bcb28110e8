// Rounds of a loop, rewritten once.
//
// A training loop sends the same lines again and again. Once a round leaves the
// rewriter in the state in which it found it, the next equal round must be
// rewritten to equal text: rewriting is a function of state and input. So a
// round whose input bytes equal the recorded ones is answered by the recorded
// output, at the cost of a compare and a copy.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/origin.h"
#include "base/writer.h"
#include "stream/source.h"

namespace gt {

using PlaceVisitor = std::function<void(Origin& place)>;

// What rewrites a stream line by line, each line by its text and by the state
// that the lines before left.
class Rewriter {
 public:
  virtual ~Rewriter() = default;
  // Things that state() has to tell of, about.
  virtual size_t state_size() const = 0;
  // All that later lines depend on, as one text. Places of lines are visited
  // apart, always in the same order: they move on from round to round, and
  // `visit` may move them.
  virtual void state(std::string& text, const PlaceVisitor& visit) = 0;
  // Messages for people so far; a round that has one is not replayed.
  virtual size_t messages() const = 0;
  // A round begins that may be replayed, and ended as one that will be.
  virtual void begin_round() {}
  virtual void end_round() {}
};

class Replay {
 public:
  explicit Replay(Rewriter& rewriter);

  // A line was fed and gave `out`.
  void note(std::string_view line, std::string_view out);
  // Something else happened to the rewriter: what was seen counts no more.
  void reset();

  // At the start of a round that has been recorded.
  bool ready() const { return phase_ == Phase::kReady; }
  // Answers all whole rounds that the source holds.
  // How many.
  size_t run(Source& source, Writer& writer);

 private:
  enum class Phase { kSearch, kRecord, kReady, kFollow };
  static constexpr size_t kWindow = size_t{1} << 16;    // lines, a power of two
  static constexpr size_t kMaxBlock = size_t{8} << 20;  // bytes
  // A growing history never comes back to a state; no need to look at it.
  static constexpr size_t kMaxState = size_t{1} << 14;
  // Taking a state costs time for each thing in it. So that programs without
  // rounds do not pay for more than a few things a line, each line earns some.
  static constexpr size_t kFirstCredit = 4 * kMaxState;
  static constexpr size_t kCreditOfLine = 4;
  // A block may be several rounds of the input long.
  static constexpr size_t kMaxRounds = 4;
  struct Seen {
    uint32_t tag = 0;    // upper half of the line's hash
    uint32_t index = 0;  // modulo 2^32
  };

  void search(uint64_t hash);
  bool may_start() const;
  void start_recording();
  void record(uint64_t hash, std::string_view line, std::string_view out);
  void follow(std::string_view line);
  void take_state(std::string& text, std::vector<size_t>& lines);

  Rewriter& rewriter_;
  Phase phase_ = Phase::kSearch;
  std::vector<uint64_t> window_;  // hashes of the last lines
  std::vector<Seen> last_;        // where a hash was seen last
  size_t index_ = 0;              // lines noted
  size_t fresh_at_ = 0;           // of these, when none counted yet
  size_t period_ = 0;             // candidate, in lines; 0: none
  size_t matched_ = 0;            // lines equal to those a period before
  size_t next_attempt_ = 0;       // index before which no state is taken
  size_t credit_ = kFirstCredit;  // things of states that may be gone through
  size_t patience_ = 1;           // periods to wait after a failed attempt

  std::string state_;  // at the start of the recorded round
  std::vector<size_t> lines_;
  std::vector<size_t> shift_;  // by how much a round moves each line number
  size_t messages_ = 0;
  std::string in_, out_;
  size_t recorded_ = 0;
  size_t followed_ = 0;  // bytes of in_ that came line by line
};

}  // namespace gt
