// Handles lines that wait. A waiting line is held back until its result is
// first used. That use decides how the result is cut, so that nothing has to be
// moved. Lines that create a tensor can wait. So can lines that compute point
// by point or repeat a smaller tensor, if an operand waits or is repeated. A
// line that computes does not wait if it reads a tensor that is already written
// and has at least as many elements as its result. Nor does it wait at the end
// of a chain of eight waiting lines, so that no use has to write a long chain.
// An integer without dimensions, such as a counter, waits only if it is
// created. A line with several results never waits. Neither does a line with
// the note #grad=: its result is a gradient, which is written where it stands.
//
// A line that waits is written
//   - when a line that does not wait reads its result, in the layout in which
//     the reader wants it. A print, a save or a copy takes any layout: the
//     config's cut if there is one, or else the whole tensor;
//   - if it is a load: before a save to the same file, and, if it has the note
//     #once, before a #sync, since its file may be removed after the answer;
//   - if nobody reads it but running it may fail: before its name is bound
//     again or freed, or at the end of the stream.
// Otherwise it is never written. If the name of one of its operands is bound
// again before, a copy keeps the operand's value for it
// (Materializer::keep_for_readers).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shard/layout_chooser.h"
#include "shard/layouts_by_shape.h"
#include "shard/line_work.h"

namespace gt::shard {

class WaitingLines {
 public:
  // Returns true if the line can wait. Its call must be bound.
  static bool can_wait(const LineWork& work);
  // Makes the value of a line that will wait, and counts the line as a reader
  // of its operands.
  ShardValuePtr make(const LineWork& work, LayoutChooser& chooser,
                     Cluster& cluster);

  // To be called after each line that is written. For a forward sum or mean it
  // remembers how the operand was cut. The backward pass expands the gradient
  // to the operand's shape, and may start with the same cut
  // (UnwrittenLine::offer).
  void note_sum(const LineWork& work);

  // These three return values of loads that still wait, and forget them. The
  // caller must write their lines. The first returns the loads of a file, which
  // is about to be saved.
  std::vector<ShardValuePtr> take_loads(const std::string& file);
  // Returns the loads with the note #once whose names are in this name space
  // ("c1/"). "" stands for all name spaces.
  std::vector<ShardValuePtr> take_loads_once(std::string_view space);
  std::vector<ShardValuePtr> take_all_loads();

  // Appends, as text, everything that the rewriting of later lines depends on.
  void describe(const Cluster& cluster, std::string& out) const;

 private:
  void find_pin(const LineWork& work, LayoutChooser& chooser, uint32_t set,
                bool is_source, UnwrittenLine& held) const;
  void join_operand(const ShardValuePtr& operand, ShardValue& value);
  void note_load(const LineWork& work, const ShardValuePtr& value);

  struct Load {
    std::weak_ptr<ShardValue> value;
    std::string file;
    std::string space;  // the name space of the result, "c1/"
    bool is_once = false;
  };
  template <typename Wanted>
  std::vector<ShardValuePtr> take_loads_if(const Wanted& is_wanted);

  std::vector<Load> loads_;  // may have loads that were written since
  size_t most_loads_ = 64;   // at this many, those are dropped
  // Operand layouts by shape, from note_sum().
  LayoutsByShape summed_;  // operands of sums, as note_sum() saw them
};

}  // namespace gt::shard
