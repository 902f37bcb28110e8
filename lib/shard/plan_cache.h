// Keeps plans that were made, by a key of everything that they depend on. The
// layers of a model repeat each other, and so do the guesses of gt-shard
// --plan, so most lines find their plan here.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "ops/call.h"
#include "shard/plan.h"

namespace gt::shard {

// Everything that a plan depends on, as bytes. Plans with equal keys are equal.
class PlanKey {
 public:
  template <typename... Parts>
  void add(const Parts&... parts) {
    (append(parts), ...);
  }
  const std::string& text() const { return text_; }

 private:
  // Writes seven bits of a number to each byte, since most numbers are below
  // 128.
  template <std::integral Number>
  void append(Number number) {
    auto rest = static_cast<uint64_t>(number);
    for (; rest >= 0x80; rest >>= 7) text_ += static_cast<char>(rest | 0x80);
    text_ += static_cast<char>(rest);
  }
  void append(std::string_view text) {
    append(text.size());
    text_ += text;
  }
  template <std::ranges::range Items>
  requires(!std::convertible_to<Items, std::string_view>) void append(
      const Items& items) {
    append(std::ranges::size(items));
    for (const auto& item : items) append(item);
  }
  template <typename Part>
  void append(const std::optional<Part>& part) {
    append(part.has_value());
    if (part) append(*part);
  }
  void append(Dtype dtype) { append(static_cast<int>(dtype)); }
  void append(const Type& type) { add(type.dtype, type.shape); }
  void append(const Layout& layout) {
    add(layout.set, layout.partial, layout.cuts);
  }
  void append(const AxisCut& cut) { add(cut.axis, cut.dim, cut.unit); }
  void append(const CutSetting& setting) { append(setting.cuts); }
  void append(const SplitEntry& cut) { add(cut.axis, cut.dim, cut.unit); }
  void append(const PlannedOperand& operand) {
    add(operand.layouts, operand.pin, operand.offer, operand.is_zero,
        operand.sum_dtype);
  }
  void append(const PlannedLine& line);

  std::string text_;
};

// Partitioners may share a cache if they have the same mesh and the same
// machine and give each set of ranks the same number.
class PlanCache {
 public:
  struct Entry {
    Plan plan;
    // The bytes that each rank sends if the line is written as its op's
    // expansion. Empty until that was tried.
    std::optional<double> bytes_expanded;
    // The other plans of the line (other_plans()). Empty until they were asked
    // for.
    std::optional<std::vector<Entry>> others = {};
  };

  // Returns the entry of that key. If there is none, makes it from the plan
  // that make_plan() returns.
  template <typename MakePlan>
  Entry& obtain(const std::string& key, const MakePlan& make_plan) {
    const auto it = entries_.find(key);
    if (it != entries_.end()) return it->second;
    return entries_.emplace(key, Entry{make_plan(), std::nullopt})
        .first->second;
  }
  // Drops all entries if there are too many. May only be called between lines,
  // since a line keeps a reference to its entry.
  void trim() {
    if (entries_.size() > kMaxEntries) entries_.clear();
  }

 private:
  static constexpr size_t kMaxEntries = 4096;
  std::unordered_map<std::string, Entry, TextHash, std::equal_to<>> entries_;
};

}  // namespace gt::shard
