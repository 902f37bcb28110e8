// Lines that make a value from nothing, or from a file, wait here until another
// line reads it: then they run where that one does, and nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "route/homes.h"
#include "route/route.h"

namespace gt::route {

struct HeldLine {
  HomeId result = kNoSymbol;
  std::string text;  // notes included
  std::vector<RoutePath> paths;
  uint64_t cost = 0;
  uint64_t bytes = 0;
  SourceLine source;
};

class HeldLines {
 public:
  using Key = uint64_t;  // 0 is none; they grow in the order of the program

  // There is always room for one more; then some must go.
  bool is_full() const { return lines_.size() > kMost || bytes_ > kMostBytes; }
  Key add(HeldLine line) {
    bytes_ += line.text.size();
    readers_ += line.paths.empty() ? 0 : 1;
    lines_.emplace(++last_, std::move(line));
    return last_;
  }
  HeldLine take(Key key) {
    const auto it = lines_.find(key);
    HeldLine line = std::move(it->second);
    lines_.erase(it);
    bytes_ -= line.text.size();
    readers_ -= line.paths.empty() ? 0 : 1;
    return line;
  }
  // The register of the oldest, of all or of those that read that file; or
  // kNoSymbol.
  HomeId oldest() const {
    return lines_.empty() ? kNoSymbol : lines_.begin()->second.result;
  }
  HomeId oldest_reader(std::string_view file) const {
    if (readers_ == 0) return kNoSymbol;
    for (const auto& [key, line] : lines_) {
      if (!line.paths.empty() && line.paths[0].file == file) {
        return line.result;
      }
    }
    return kNoSymbol;
  }
  size_t size() const { return lines_.size(); }

 private:
  static constexpr size_t kMost = 4096;
  static constexpr size_t kMostBytes = size_t{1} << 20;

  std::map<Key, HeldLine> lines_;
  Key last_ = 0;
  size_t bytes_ = 0;    // of their texts
  size_t readers_ = 0;  // of files
};

}  // namespace gt::route
