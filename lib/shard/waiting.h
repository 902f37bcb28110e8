// Lines that wait: they are held back until their first use, which says how
// their results are cut, so that nothing has to be moved. Creations can wait,
// and lines that compute point by point, or repeat what is smaller, from what
// waits. No line that computes waits if it reads a tensor that is written
// already and has as many elements as its result, or if it is more than eight
// lines behind the first that waits, so that no use has to write a long chain.
// An integer without dimensions, such as a counter, never waits unless it is
// created. A line with several results never waits, and neither does one with
// the note #grad=: its result is a gradient, which is written where it stands.
//
// A line that waits is written
//   - when a line that does not wait reads its result, in the layout in which
//     that reads it; a print, a save or a copy take the config's or the whole;
//   - if it is a load, before a save to the same file; with the note #once,
//     before a #sync, since its file may go once that is answered;
//   - if nobody reads it but it may fail when it is run, before its name is
//     bound again or freed, or at the end of the stream.
// Else it is never written. When the name of what it reads is bound again, a
// copy keeps that value for it (Materializer::keep_for_readers).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shard/layout_chooser.h"
#include "shard/line_work.h"

namespace gt::shard {

class WaitingLines {
 public:
  // Whether the line, whose call is bound, is to wait.
  static bool can_wait(const LineWork& work);
  // Makes the value of a line that is to wait, and counts the line as a reader
  // of what it reads.
  ShardValuePtr make(const LineWork& work, LayoutChooser& chooser,
                     Cluster& cluster);

  // To be called after each line that is written. Of a forward sum or mean it
  // remembers how the operand was cut: backward expands the gradient to the
  // operand's shape again, and that may begin with the same cut
  // (UnwrittenLine::offer).
  void note_sum(const LineWork& work);

  // Those of the loads that still wait. The caller writes them.
  // Of a file, which is about to be saved.
  std::vector<ShardValuePtr> take_loads(const std::string& file);
  // With the note #once, into names of the name space, "c1/"; "": into any.
  std::vector<ShardValuePtr> take_loads_once(std::string_view space);
  std::vector<ShardValuePtr> take_all_loads();

  // All that later lines depend on.
  void describe(const Cluster& cluster, std::string& out) const;

 private:
  void find_pin(const LineWork& work, LayoutChooser& chooser, uint32_t set,
                bool is_source, UnwrittenLine& held) const;
  void join_operand(const ShardValuePtr& operand, ShardValue& value);
  void note_load(const LineWork& work, const ShardValuePtr& value);

  struct Load {
    std::weak_ptr<ShardValue> value;
    std::string file;
    std::string space;  // of its name, "c1/"
    bool is_once = false;
  };
  template <typename Wanted>
  std::vector<ShardValuePtr> take_loads_if(const Wanted& is_wanted);

  std::vector<Load> loads_;               // also some that were written since
  size_t most_loads_ = 64;                // with more, those are dropped
  std::map<std::string, Layout> summed_;  // by shape, as note_sum() saw it
};

}  // namespace gt::shard
