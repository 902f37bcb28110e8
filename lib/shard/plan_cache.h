// Plans that were made. Layers repeat each other, and so do the guesses of a
// search, so that most lines find theirs here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"
#include "ops/call.h"
#include "shard/plan.h"

namespace gt {

// Of all that a plan depends on, as bytes: equal keys have equal plans.
class PlanKey {
 public:
  void add(std::string_view text);
  void add(int64_t number);
  void add(const Type& type);
  void add(const Layout& layout);
  void add(const std::optional<Layout>& layout);
  void add(const std::optional<CutSetting>& setting);
  // All but its names; `line` has what is known of its operands.
  void add(const PlannedLine& line);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// For one mesh and one machine, and partitioners that number rank sets alike.
class PlanCache {
 public:
  struct Entry {
    Plan plan;
    std::optional<double> bytes_expanded;  // once that was tried
  };

  Entry* find(const std::string& key) {
    const auto it = entries_.find(key);
    return it == entries_.end() ? nullptr : &it->second;
  }
  Entry* add(const std::string& key, Plan plan) {
    return &entries_.emplace(key, Entry{std::move(plan), std::nullopt})
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

}  // namespace gt
