// Answers the rounds of a loop from a recording of the first.
//
// A training loop sends the same lines again and again. What a filter writes
// for them is a function of its input and of its state. So when a recorded
// round has left the filter in the state in which it found it, the next round
// with the same input bytes has the same output bytes and leaves the same
// state: the recorded output is written again, at the cost of a compare and a
// copy. A round in which the filter had a message for people is not replayed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/origin.h"
#include "stream/source.h"

namespace gt {

using PlaceVisitor = std::function<void(Origin& place)>;

// A filter that rewrites a stream line by line. What it writes for a line
// depends on the line's text and on the state that the lines before left.
// state() must describe all of that state: two states with equal texts must
// treat every later line alike.
class Rewriter {
 public:
  virtual ~Rewriter() = default;
  // Returns roughly how many things state() describes, which is what it costs.
  virtual size_t state_size() const = 0;
  // Returns the number of lines of history. It is equal in equal states and
  // costs nothing, so it is compared before state() is asked.
  virtual size_t history() const { return 0; }
  // Sets `text` to everything that the output for later lines depends on,
  // except for the places of lines that are kept for messages. These move down
  // the input from round to round, so each is passed to `visit` instead, always
  // in the same order; `visit` may move it.
  virtual void state(std::string& text, const PlaceVisitor& visit) = 0;
  // Returns how many messages for people there were so far.
  virtual size_t messages() const = 0;
  // Returns true if what was written depends on lines that are still to come.
  // No round begins or ends there.
  virtual bool has_looked_ahead() const { return false; }
  // Called when Replay begins to record a round.
  virtual void begin_round() {}
  // Called when the recorded round has brought the same state back, and so will
  // be replayed.
  virtual void end_round() {}
};

class Replay {
 public:
  explicit Replay(Rewriter& rewriter);

  // Must be called with every line that the rewriter was fed, and the output
  // that it gave.
  void note(std::string_view line, std::string_view out);
  // Must be called when the rewriter changed in any other way. Forgets the
  // recording and all lines.
  void reset();

  // True if a round is recorded and the next line would be its first. The
  // caller should then try run().
  bool ready() const { return phase_ == Phase::kReady; }
  // Gives the recorded output to `write` once for each whole round that the
  // source holds or can read without waiting, until `write` returns false.
  // Removes these rounds from the source, and moves the rewriter's places.
  // Returns the number of these rounds; 0 means that the next line must be fed
  // to the rewriter.
  using Write = std::function<bool(std::string_view)>;
  size_t run(Source& source, const Write& write);

 private:
  // The replay searches for a period (kSearch) and writes a round down
  // (kRecord). With a recording it is at the start of a round (kReady), or
  // within a round that comes line by line and has been equal to the recorded
  // one so far (kFollow).
  enum class Phase { kSearch, kRecord, kReady, kFollow };
  static constexpr size_t kWindow = size_t{1} << 16;  // lines, a power of two
  // The largest recording, in bytes, input and output together.
  static constexpr size_t kMaxBlock = size_t{8} << 20;
  // The largest state_size() at which a round is recorded. A larger state is
  // mostly a history that only grows, and so never comes back.
  static constexpr size_t kMaxState = size_t{1} << 14;
  // state() takes time for each thing in the state. So that a program without
  // rounds pays for at most a few things a line, each line earns some credit,
  // and a state is taken only when the credit covers it.
  static constexpr size_t kFirstCredit = 4 * kMaxState;
  static constexpr size_t kCreditOfLine = 4;
  // A recording may be several periods of the input long, since names that a
  // filter invents may alternate from round to round.
  static constexpr size_t kMaxRounds = 4;
  struct Seen {
    uint32_t tag = 0;    // upper half of the line's hash
    uint32_t index = 0;  // the line's index, modulo 2^32
  };

  void search(uint64_t hash);
  bool may_start() const;
  void start_recording();
  void record(uint64_t hash, std::string_view line, std::string_view out);
  bool is_back();
  void follow(std::string_view line);
  void take_state(std::string& text, std::vector<size_t>& lines);

  Rewriter& rewriter_;
  Phase phase_ = Phase::kSearch;
  std::vector<uint64_t> window_;  // hashes of the last lines
  std::vector<Seen> last_;        // the place where a hash was last seen
  size_t index_ = 0;              // lines noted
  size_t fresh_at_ = 0;           // index_ at the last reset()
  size_t period_ = 0;             // candidate, in lines; 0: none
  size_t matched_ = 0;            // lines equal to those a period before
  size_t next_attempt_ = 0;       // index before which no state is taken
  size_t credit_ = kFirstCredit;  // things that state() may still describe
  size_t patience_ = 1;           // periods to wait after a failed attempt

  // The rewriter's history(), state text and place lines at the start of the
  // recorded round.
  size_t history_ = 0;
  std::string state_;
  std::vector<size_t> lines_;
  std::vector<size_t> shift_;  // by how much a round moves each line number
  size_t messages_ = 0;        // at the start of the recorded round
  std::string in_, out_;       // the recorded input and output
  size_t recorded_ = 0;        // lines in in_
  size_t followed_ = 0;        // bytes of in_ that came line by line
};

}  // namespace gt
