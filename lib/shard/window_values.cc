#include "shard/window_values.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "shard/window.h"

namespace gt::shard {
namespace {

// The number of a name, and a rank.
using Register = std::pair<uint32_t, int64_t>;

struct WindowValue {
  uint32_t name = 0;
  Ranks ranks;
  uint32_t maker = kNoIndex;   // kNoIndex: it was made before the window
  uint32_t before = kNoIndex;  // the value it replaces on its first rank
  std::vector<uint32_t> readers;
  bool keeps_name = false;
};

class ValueFinder {
 public:
  ValueFinder(std::vector<WindowLine>& lines, WindowValues& found)
      : lines_(lines), found_(found) {
    found.read_from.resize(lines.size());
    found.written_to.resize(lines.size());
    found.target_of.resize(lines.size(), kNoIndex);
    found.freed.resize(lines.size());
    for (uint32_t i = 0; i < lines.size(); ++i) take(i);
    // The last value of a name keeps the name even if it is freed, so that
    // after the window the name holds what the program leaves in it.
    for (const auto& [at, values] : history_) {
      values_[values.back()].keeps_name = true;
    }
    join_sums();
    make_storages();
    for (uint32_t i = 0; i < lines.size(); ++i) resolve(i);
    find_order();
    for (WindowLine& line : lines) {
      make_unique(line.line.needs);
      make_unique(line.line.after);
    }
  }

 private:
  static void make_unique(std::vector<uint32_t>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

  // ---- values: what each line reads and makes

  uint32_t make(uint32_t name, const Ranks& ranks, uint32_t maker) {
    const auto value = static_cast<uint32_t>(values_.size());
    const std::vector<uint32_t>& here = history_[{name, ranks.front()}];
    values_.push_back({name,
                       ranks,
                       maker,
                       here.empty() ? kNoIndex : here.back(),
                       {},
                       maker == kNoIndex});
    joined_.push_back(value);
    for (const int64_t rank : ranks) {
      current_[{name, rank}] = value;
      history_[{name, rank}].push_back(value);
    }
    return value;
  }

  uint32_t value_at(uint32_t name, int64_t rank) {
    const auto it = current_.find({name, rank});
    if (it != current_.end() && it->second != kNoIndex) return it->second;
    return make(name, {rank}, kNoIndex);
  }

  void note_reader(uint32_t value, uint32_t line) {
    std::vector<uint32_t>& readers = values_[value].readers;
    if (readers.empty() || readers.back() != line) readers.push_back(line);
  }

  // The line counts as a reader of the value whose gradient it makes, and
  // stands behind the line that makes the value. So the value's name holds it
  // when the line is written, and the note #grad= names the right value.
  void take_target(uint32_t i) {
    WindowLine& line = lines_[i];
    if (!line.target) return;
    uint32_t& target = found_.target_of[i];
    for (const int64_t rank : line.line.ranks) {
      const auto it = current_.find({*line.target, rank});
      // The name was freed there.
      if (it != current_.end() && it->second == kNoIndex) continue;
      const uint32_t value = value_at(*line.target, rank);
      note_reader(value, i);
      const uint32_t maker = values_[value].maker;
      if (maker != kNoIndex) line.line.after.push_back(maker);
      if (target == kNoIndex) target = value;
      join(target, value);
    }
  }

  void take(uint32_t i) {
    WindowLine& line = lines_[i];
    take_target(i);
    for (const WindowPart& part : line.reads) {
      uint32_t first = kNoIndex;
      for (const int64_t rank : part.ranks) {
        const uint32_t value = value_at(part.name, rank);
        note_reader(value, i);
        if (line.is_free) {
          pieces_freed_[i].push_back({value, rank});
          current_[{part.name, rank}] = kNoIndex;
          continue;
        }
        const uint32_t maker = values_[value].maker;
        if (maker != kNoIndex) line.line.needs.push_back(maker);
        // An operand has one name, so all values that it reads get the same
        // one.
        if (first == kNoIndex) first = value;
        join(first, value);
      }
      found_.read_from[i].push_back(first);
    }
    for (const WindowPart& part : line.writes) {
      found_.written_to[i].push_back(make(part.name, part.ranks, i));
    }
  }

  // ---- storages: which values share a name

  uint32_t root(uint32_t value) {
    while (joined_[value] != value) {
      joined_[value] = joined_[joined_[value]];
      value = joined_[value];
    }
    return value;
  }
  void join(uint32_t a, uint32_t b) { joined_[root(b)] = root(a); }

  // In a line such as y = add y x, the sum stays under the same name if no
  // other line reads the y that it replaces.
  void join_sums() {
    for (uint32_t v = 0; v < values_.size(); ++v) {
      const WindowValue& value = values_[v];
      if (value.maker == kNoIndex) continue;
      if (value.before == kNoIndex) continue;
      const WindowValue& old = values_[value.before];
      const bool is_replaced = old.ranks == value.ranks &&
                               old.readers.size() == 1 &&
                               old.readers[0] == value.maker;
      if (is_replaced) join(value.before, v);
    }
  }

  void make_storages() {
    storage_of_.assign(values_.size(), kNoIndex);
    std::vector<std::set<uint32_t>> lines;  // by storage
    for (uint32_t v = 0; v < values_.size(); ++v) {
      uint32_t& storage = storage_of_[root(v)];
      if (storage == kNoIndex) {
        storage = static_cast<uint32_t>(found_.storages.size());
        found_.storages.push_back({values_[v].name, {}, false, 0, ""});
        lines.emplace_back();
      }
      Storage& of = found_.storages[storage];
      of.ranks = together(of.ranks, values_[v].ranks);
      of.keeps_name = of.keeps_name || values_[v].keeps_name;
      if (values_[v].maker != kNoIndex) lines[storage].insert(values_[v].maker);
      for (const uint32_t reader : values_[v].readers) {
        if (!lines_[reader].is_free) lines[storage].insert(reader);
      }
    }
    for (uint32_t v = 0; v < values_.size(); ++v) {
      storage_of_[v] = storage_of_[root(v)];
    }
    for (size_t s = 0; s < lines.size(); ++s) {
      found_.storages[s].left = lines[s].size();
    }
  }

  void resolve(uint32_t i) {
    for (uint32_t& value : found_.read_from[i]) {
      value = value == kNoIndex ? kNoIndex : storage_of_[value];
    }
    for (uint32_t& value : found_.written_to[i]) value = storage_of_[value];
    uint32_t& target = found_.target_of[i];
    if (target != kNoIndex) target = storage_of_[target];
    const auto it = pieces_freed_.find(i);
    if (it == pieces_freed_.end()) return;
    for (const auto& [value, rank] : it->second) {
      const uint32_t storage = storage_of_[value];
      std::vector<FreedPart>& parts = found_.freed[i];
      if (parts.empty() || parts.back().storage != storage) {
        parts.push_back({storage, values_[value].name, {}});
      }
      parts.back().ranks = together(parts.back().ranks, {rank});
    }
  }

  // ---- order: a name is not bound anew before what it held was read

  void find_order() {
    for (const auto& [at, values] : history_) {
      // The last value on this rank that was kept under the program's own name,
      // and that in each storage with an invented name.
      std::map<uint32_t, uint32_t> last;
      for (const uint32_t v : values) {
        const uint32_t storage = storage_of_[v];
        const uint32_t place =
            found_.storages[storage].keeps_name ? kNoIndex : storage;
        const auto [it, is_first] = last.try_emplace(place, v);
        if (is_first) continue;
        if (values_[v].maker != kNoIndex) {
          follow(values_[it->second], values_[v].maker);
        }
        it->second = v;
      }
    }
    for (const auto& [line, pieces] : pieces_freed_) {
      for (const auto& [value, rank] : pieces) follow(values_[value], line);
    }
  }

  // The line binds or frees the register that holds the value on a rank, so it
  // must follow the value's maker and the readers before it. A reader behind it
  // reads the value's pieces on other ranks.
  void follow(const WindowValue& value, uint32_t line) {
    std::vector<uint32_t>& after = lines_[line].line.after;
    const bool is_other = value.maker != line;  // not "a a = split b"
    if (value.maker != kNoIndex && is_other) after.push_back(value.maker);
    for (const uint32_t reader : value.readers) {
      if (reader < line) after.push_back(reader);
    }
  }

  std::vector<WindowLine>& lines_;
  WindowValues& found_;
  std::vector<WindowValue> values_;
  std::vector<uint32_t> joined_;  // a union-find forest over values
  std::vector<uint32_t> storage_of_;
  std::map<Register, uint32_t> current_;  // kNoIndex: the name was freed
  std::map<Register, std::vector<uint32_t>> history_;
  std::map<uint32_t, std::vector<std::pair<uint32_t, int64_t>>> pieces_freed_;
};

}  // namespace

WindowValues::WindowValues(std::vector<WindowLine>& lines) {
  ValueFinder(lines, *this);
}

}  // namespace gt::shard
