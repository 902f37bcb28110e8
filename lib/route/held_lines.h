// Lines that make a value from nothing or from a file (Route::makes) wait here,
// not issued, until another line reads the value. Then they are issued to the
// worker on which that line runs, so that nothing has to be copied. They are
// issued earlier if the value is bound again or freed; if they read a file,
// before a save to it and before a sync; when too many wait; and at the end of
// the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "route/route.h"
#include "route/value_locations.h"

namespace gt::route {

struct HeldLine {
  SymbolId result = kNoSymbol;
  std::string text;              // notes included
  std::vector<RoutePath> paths;  // the file of a load, else none
  uint64_t cost = 0;             // nanoseconds
  uint64_t bytes = 0;            // size of the value
  SourceLine source;
};

class HeldLines {
 public:
  using Key = uint64_t;  // 0 is none; they grow in the order of the program

  // True if too many lines wait. One more can be added even then; the caller
  // first takes out the oldest ones until this is false.
  bool is_full() const { return lines_.size() > kMost || bytes_ > kMostBytes; }
  Key add(HeldLine line) {
    bytes_ += line.text.size();
    readers_ += line.paths.empty() ? 0 : 1;
    lines_.emplace(++last_, std::move(line));
    return last_;
  }
  // Takes the line of that key out; it must be here.
  HeldLine take(Key key) {
    const auto it = lines_.find(key);
    HeldLine line = std::move(it->second);
    lines_.erase(it);
    bytes_ -= line.text.size();
    readers_ -= line.paths.empty() ? 0 : 1;
    return line;
  }
  // Returns the register that the oldest line binds; kNoSymbol if there is no
  // line.
  SymbolId oldest() const {
    return lines_.empty() ? kNoSymbol : lines_.begin()->second.result;
  }
  // Returns the same for the lines that read a file and for which
  // is_wanted(line) is true.
  template <typename Wanted>
  SymbolId oldest_reader(const Wanted& is_wanted) const {
    if (readers_ == 0) return kNoSymbol;
    for (const auto& [key, line] : lines_) {
      if (!line.paths.empty() && is_wanted(line)) return line.result;
    }
    return kNoSymbol;
  }
  size_t size() const { return lines_.size(); }

 private:
  static constexpr size_t kMost = 4096;
  static constexpr size_t kMostBytes = size_t{1} << 20;  // of text

  std::map<Key, HeldLine> lines_;
  Key last_ = 0;
  size_t bytes_ = 0;    // total size of the lines' texts
  size_t readers_ = 0;  // lines that read a file
};

}  // namespace gt::route
