// Plans that were made. Layers repeat each other, and so do the guesses of a
// search, so that most lines find theirs here.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "ops/call.h"
#include "shard/plan.h"

namespace gt::shard {

// Of all that a plan depends on, as bytes: equal keys have equal plans.
class PlanKey {
 public:
  template <typename... Parts>
  void add(const Parts&... parts) {
    (append(parts), ...);
  }
  const std::string& text() const { return text_; }

 private:
  // Mostly below 128, which are a byte.
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
  void append(const Type& type) {
    add(static_cast<int>(type.dtype), type.shape);
  }
  void append(const Layout& layout) {
    add(layout.set, layout.partial, layout.cuts);
  }
  void append(const AxisCut& cut) { add(cut.axis, cut.dim, cut.unit); }
  void append(const CutSetting& setting) { append(setting.cuts); }
  void append(const SplitEntry& cut) { add(cut.axis, cut.dim, cut.unit); }
  void append(const PlannedOperand& operand) {
    add(operand.layouts, operand.pin, operand.offer, operand.is_zero);
  }
  void append(const PlannedLine& line);

  std::string text_;
};

// For one mesh and one machine, and partitioners that number rank sets alike.
class PlanCache {
 public:
  struct Entry {
    Plan plan;
    std::optional<double> bytes_expanded;  // once that was tried
  };

  // The one that is known, or else of what make_plan() gives.
  template <typename MakePlan>
  Entry& obtain(const std::string& key, const MakePlan& make_plan) {
    const auto it = entries_.find(key);
    if (it != entries_.end()) return it->second;
    return entries_.emplace(key, Entry{make_plan(), std::nullopt})
        .first->second;
  }
  // Between lines: entries stay where they are until then.
  void trim() {
    if (entries_.size() > kMaxEntries) entries_.clear();
  }

 private:
  static constexpr size_t kMaxEntries = 4096;
  std::unordered_map<std::string, Entry, TextHash, std::equal_to<>> entries_;
};

}  // namespace gt::shard
