// Instructions on their way to workers. Workers that were given the same lines
// since their bodies left last share one body, which is written and kept once:
// the workers are parted into classes (partition refinement). At first there is
// one class; lines for some of its workers only split it; classes come together
// again when their bodies have left. So a line to a thousand workers costs what
// a line to one does.
//
// What a body holds between two borders may be a block that came before: then
// it is kept as one more round of that block.
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
  // A body is due once it has so many bytes of text, not while it may be a
  // block unless it is very long, and when its blocks stand for very much.
  static constexpr size_t kFullBody = size_t{48} << 10;
  static constexpr size_t kMostHeld = size_t{512} << 10;
  static constexpr size_t kMostRounds = size_t{2} << 20;

  explicit Outbox(uint32_t workers);

  // A worker stands in `workers` once.
  void add(const std::vector<uint32_t>& workers, uint64_t seq, int64_t line,
           std::string_view text);

  struct Batch {
    std::vector<uint32_t> workers;
    std::vector<BodyPart> parts;
    uint64_t last = 0;  // seq; 0: nothing in it has a number
  };
  enum class Take : uint8_t {
    kFull,     // bodies that became full
    kSettled,  // all but lines that may be a block's
    kAll,
  };
  std::vector<Batch> take(Take which);

  // The next line may be the first of a block ...
  void begin_block();
  // ... that the last line ended; false: some of it goes as text ...
  bool end_block();
  // ... or is not after all.
  void drop_block();
  // So many more rounds of the block for which end_block() was true last, each
  // with numbers that have grown by that much.
  void repeat(uint64_t times, uint64_t seq_by, uint64_t line_by);
  // Blocks that nobody shall keep any longer.
  std::vector<uint64_t> take_forgotten() { return blocks_.take_forgotten(); }

  bool empty() const { return pending_ == 0; }
  // Bytes of the text that waits for that worker.
  size_t size(uint32_t worker) const {
    return classes_[places_[worker].in].body.bytes();
  }
  // How the workers are parted now.
  size_t classes() const { return classes_.size() - unused_.size(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr size_t kMaxSets = 4096;

  struct Class {
    std::vector<uint32_t> workers;
    Body body;
    uint64_t block = 0;  // the last that it got a line of
    bool is_due = false;
    // Scratch of refine().
    uint32_t wanted = 0;    // of its workers
    uint32_t part = kNone;  // where those go
  };
  struct Place {
    uint32_t in = 0;     // a class
    uint32_t index = 0;  // among its workers
  };
  // What the last round of a block put into the bodies of these workers.
  struct Ended {
    std::vector<uint32_t> workers;
    BodyPart part;
  };
  // A set that lines went to, and the classes that it was then.
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
  std::vector<uint32_t> unused_;  // of classes_
  std::vector<Place> places_;     // by worker
  uint32_t idle_ = 0;             // the class for which nothing waits, or kNone
  size_t pending_ = 0;            // classes for which something does
  std::vector<uint32_t> due_;
  uint64_t partition_ = 1;                  // grows when classes_ are others
  std::unordered_map<uint64_t, Set> sets_;  // by hash of their workers

  BlockTable blocks_;
  uint64_t blocks_begun_ = 0;
  uint64_t block_ = 0;             // that may be coming; 0: none
  std::vector<uint32_t> touched_;  // classes that got lines of it
  std::vector<Ended> ended_;       // of the block before
};

}  // namespace gt::route
