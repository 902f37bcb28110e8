#include "log/timeline_colors.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/units.h"
#include "log/colors.h"

namespace gt::log {

OpColors::OpColors(const Timeline& timeline)
    : timeline_(timeline),
      time_by_op_(timeline.words()),
      colors_(timeline.words(), kOtherColor) {
  for (const Timeline::Event& event : timeline.events()) {
    time_by_op_[event.op] += event.length();
    total_ += event.length();
  }
  for (uint32_t op = 0; op < time_by_op_.size(); ++op) {
    if (time_by_op_[op] > 0) order_.push_back(op);
  }
  std::sort(order_.begin(), order_.end(), [this](uint32_t a, uint32_t b) {
    return std::pair(time_by_op_[b], timeline_.word(a)) <
           std::pair(time_by_op_[a], timeline_.word(b));
  });
  for (size_t i = 0; i < order_.size() && i < std::size(kColors); ++i) {
    colors_[order_[i]] = kColors[i];
  }
}

std::vector<OpColors::Entry> OpColors::legend() const {
  std::vector<Entry> out;
  uint64_t shown = 0;
  for (const uint32_t op : order_) {
    if (out.size() == std::size(kColors)) break;
    shown += time_by_op_[op];
    out.push_back(
        {colors_[op], timeline_.word(op) + " " + percent(time_by_op_[op])});
  }
  if (out.size() < order_.size()) {
    out.push_back({kOtherColor, std::to_string(order_.size() - out.size()) +
                                    " other ops " + percent(total_ - shown)});
  }
  return out;
}

std::string OpColors::percent(uint64_t time) const {
  const double share = 100 * static_cast<double>(time) /
                       static_cast<double>(std::max<uint64_t>(total_, 1));
  return (share < 0.1 ? "<0.1" : decimal(share, share < 10 ? 1 : 0)) + " %";
}

}  // namespace gt::log
