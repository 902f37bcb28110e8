// The lines that were issued, for each worker, until they leave.
//
// Workers that were given the same lines since their last departure share one
// body (body.h), which is written and kept once: they are a class (partition
// refinement). At first all workers are one class. A line for only some of the
// workers of a class splits it, with a copy of the body for each half. When
// their bodies have left, classes join again. So a line to a thousand workers
// costs what a line to one does.
//
// From here to the wire: the body of a class leaves as one Batch, the list of
// its parts with the workers of the class. Deliveries makes of each part a
// message `lines`, `block` or `hot` (net/wire.h), in several frames if it is
// long. A body leaves when take() is called and
//   - it is due: it has kFullBody bytes of text and no block may be coming, or
//     the rounds of blocks in it stand for kMostRounds bytes;
//   - or the input is idle or at its end (Take::kAll);
//   - or the input may not be read, for lack of room (Take::kSettled).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "route/block_table.h"
#include "route/body.h"

namespace gt::route {

class Outbox {
 public:
  // Sizes in bytes of text. When a body has kMostHeld bytes that belong to no
  // part yet, a block that may be coming is given up: its lines are sent as
  // text.
  static constexpr size_t kFullBody = size_t{48} << 10;
  static constexpr size_t kMostHeld = size_t{512} << 10;
  static constexpr size_t kMostRounds = size_t{2} << 20;

  explicit Outbox(uint32_t workers);

  // Adds a line for these workers, each of which is in the list once. `seq` and
  // `line` are its numbers (net/wire.h); they are ignored for a line that takes
  // none.
  void add(const std::vector<uint32_t>& workers, uint64_t seq, int64_t line,
           std::string_view text);

  struct Batch {
    std::vector<uint32_t> workers;
    std::vector<BodyPart> parts;
    uint64_t last = 0;  // the last seq in it; 0: no line has one
    // Returns the first seq in it, or `last` if no part has one.
    uint64_t first() const {
      for (const BodyPart& part : parts) {
        if (part.seq != 0) return part.seq;
      }
      return last;
    }
  };
  enum class Take : uint8_t {
    kFull,     // the bodies that are due
    kSettled,  // all bodies, without lines of a block that may be coming
    kAll,      // all; a block that may be coming is given up
  };
  std::vector<Batch> take(Take which);

  // The next line is the first of a known block, which may be coming. (The
  // finder only guesses, and some workers get only some of the block's lines.)
  void begin_block();
  // The last line was the block's last. Returns true if every worker that got
  // lines of it has them as one block, false if some have them as text.
  bool end_block();
  // The lines since begin_block() are not a block after all.
  void drop_block();
  // Adds that many more rounds of the block for which end_block() was true
  // last. From round to round seqs grow by `seq_by`, places in the input by
  // `line_by`.
  void repeat(uint64_t times, uint64_t seq_by, uint64_t line_by);
  // Returns, once each, the ids of blocks that no worker needs to keep any
  // longer.
  std::vector<uint64_t> take_forgotten() { return blocks_.take_forgotten(); }

  bool empty() const { return pending_ == 0; }
  // Returns the bytes of the text that waits for that worker; all rounds count.
  size_t size(uint32_t worker) const {
    return classes_[places_[worker].in].body.bytes();
  }
  // Returns how many classes the workers are in.
  size_t classes() const { return classes_.size() - unused_.size(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kMaxSets = 4096;

  struct Class {
    std::vector<uint32_t> workers;
    Body body;
    uint64_t block = 0;   // Outbox::block_ when it last got a line
    bool is_due = false;  // the class is in due_
    // The following members are used by refine() alone.
    uint32_t wanted = 0;    // how many of its workers the line is for
    uint32_t part = kNone;  // the class to which these go
  };
  struct Place {
    uint32_t in = 0;     // a class
    uint32_t index = 0;  // among its workers
  };
  // The last block's round, as it is in the bodies of these workers.
  struct Ended {
    std::vector<uint32_t> workers;
    BodyPart part;
  };
  // A set of workers that lines went to, and the classes that it consisted of
  // when partition_ was `partition`.
  struct Set {
    std::vector<uint32_t> workers;
    std::vector<uint32_t> classes;
    uint64_t partition = 0;
  };

  std::span<const uint32_t> classes_of(const std::vector<uint32_t>& workers);
  void refine(const std::vector<uint32_t>& workers,
              std::vector<uint32_t>& classes);
  uint32_t obtain_class();
  void move(uint32_t worker, uint32_t to);
  void expect(uint32_t id);
  void open_block(uint32_t id);
  void check_due(uint32_t id);
  void take(uint32_t id, bool all, std::vector<Batch>& out);
  void join_idle(uint32_t id);

  std::vector<Class> classes_;
  std::vector<uint32_t> unused_;  // unused entries of classes_
  std::vector<Place> places_;     // indexed by worker
  uint32_t idle_ = 0;             // the class with an empty body, or kNone
  size_t pending_ = 0;            // the number of classes that have a body
  std::vector<uint32_t> due_;     // classes whose bodies are due
  uint64_t partition_ = 1;        // grows when a class is split or joined
  std::unordered_map<uint64_t, Set> sets_;  // by the hash of the workers

  BlockTable blocks_;
  uint64_t blocks_begun_ = 0;
  uint64_t block_ = 0;             // the block that may be coming; 0: none
  std::vector<uint32_t> touched_;  // the classes that got lines of that block
  std::vector<Ended> ended_;       // the last block, for repeat()
};

}  // namespace gt::route
