// A small memory of layouts by the shape of a tensor: how tensors of a shape
// were cut where it mattered last, as a guess for others of that shape.
#pragma once

#include <map>
#include <string>

#include "ops/shape_rules.h"
#include "spmd/layout.h"

namespace gt::shard {

class LayoutsByShape {
 public:
  // Remembers the layout in place of the last one of the shape. A layout that
  // cuts nothing is forgotten. At most 256 shapes are remembered.
  void note(const Shape& shape, const Layout& layout) {
    const std::string key = list_text(shape);
    by_shape_.erase(key);
    if (by_shape_.size() == kMost) by_shape_.clear();
    if (!layout.cuts.empty()) by_shape_[key] = layout;
  }
  // Returns the last layout of the shape, or null if there is none.
  const Layout* find(const Shape& shape) const {
    const auto it = by_shape_.find(list_text(shape));
    return it == by_shape_.end() ? nullptr : &it->second;
  }
  // Appends all that it remembers as text (Rewriter::state).
  void describe(std::string_view what, const Cluster& cluster,
                std::string& out) const {
    for (const auto& [shape, layout] : by_shape_) {
      out += std::string(what) + " " + shape + "=" + cluster.describe(layout) +
             ";" + cluster.split_text(layout) + "\n";
    }
  }

 private:
  static constexpr size_t kMost = 256;
  std::map<std::string, Layout> by_shape_;
};

}  // namespace gt::shard
