// Lines that wait for their first use, which says how their results are cut:
// creations, and point-wise lines over what waits.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shard/layout_chooser.h"
#include "shard/line_work.h"

namespace gt::shard {

class WaitingLines {
 public:
  static bool can_wait(const LineWork& work);
  // The value of a line that waits; what it reads has one reader more.
  ShardValuePtr make(const LineWork& work, LayoutChooser& chooser,
                     Cluster& cluster);

  // What the forward sums, the backward will spread over: an expand to this
  // shape begins as this is cut.
  void note_sum(const LineWork& work);

  // Those that read the file wait no more: it is about to be saved, or all of
  // them, when nobody knows which file.
  std::vector<ShardValuePtr> take_loads(const std::string& file);
  std::vector<ShardValuePtr> take_all_loads();

  // All that later lines depend on.
  void describe(const Cluster& cluster, std::string& out) const;

 private:
  void find_pin(const LineWork& work, LayoutChooser& chooser, uint32_t set,
                bool is_source, UnwrittenLine& held) const;
  void join_operand(const ShardValuePtr& operand, ShardValue& value);
  void note_load(const LineWork& work, const ShardValuePtr& value);

  std::map<std::string, std::vector<std::weak_ptr<ShardValue>>> loads_;
  std::map<std::string, Layout> summed_;  // by the forward, by shape
};

}  // namespace gt::shard
