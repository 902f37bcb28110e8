// Moves gathers to earlier places, so that what is computed hides them. With
// regather: a weight is gathered where it is needed and given up behind that,
// and a rank would wait there until the pieces of all others have come. So each
// gather leaves right behind the one before it, while the lines between the two
// run: the prefetch of FSDP (Zhao et al., "PyTorch FSDP: Experiences on Scaling
// Fully Sharded Data Parallel", 2023). Two gathered tensors are then held at a
// time. A gather does not pass a line that makes what it gathers, or that holds
// something under the name of its result.
//
// The lines behind a gather are held back until the next one, up to 64 of them,
// and none beyond a line that shows something, has no ranks, or is no
// instruction.
#pragma once

#include <deque>

#include "shard/line_order.h"

namespace gt::shard {

class GathersAhead final : public LineOrder {
 public:
  using LineOrder::LineOrder;

  void take(std::string_view lines, std::string& out) override;
  void take_round(std::string_view lines, std::string& out) override;
  void finish(std::string& out) override;

 private:
  static constexpr size_t kMostLines = 64;
  struct Held {
    std::string text;
    Line line;  // points into `text`
    Result<LineRanks> where = LineRanks();
  };

  void take_line(std::string_view text, std::string& out) override;
  // Appends all that is held.
  void release(std::string& out);
  // Returns, as text, everything that the order of later lines depends on.
  std::string state() const;

  std::deque<Held> held_;
  bool holds_ = false;  // a gather came, and nothing that ends the order since
  // The last input if it was a round, with its output and the state at its
  // ends.
  struct Round {
    std::string lines, before, out, after;
  };
  Round round_;
};

}  // namespace gt::shard
