#include "shard/schedule_delays.h"

#include <algorithm>
#include <tuple>

#include "shard/schedule_units.h"

namespace gt::shard {
namespace {

// Returns, for each line, true if it is a source. Before its first stage hands
// over, the forward part has nothing but sources; what moves is none.
std::vector<bool> find_sources(const std::vector<ScheduledLine>& lines) {
  std::vector<bool> is_source(lines.size(), false);
  for (uint32_t i = 0; i < lines.size(); ++i) {
    const ScheduledLine& line = lines[i];
    if (line.microbatch < 0 || Chunks::leaves(line)) continue;
    is_source[i] =
        line.is_recomputed ||
        std::all_of(line.needs.begin(), line.needs.end(), [&](uint32_t n) {
          return lines[n].microbatch != line.microbatch ||
                 (is_source[n] && lines[n].is_backward == line.is_backward);
        });
  }
  return is_source;
}

// Returns, for each source, the line that it waits with, which is none itself:
// of those that it reaches through other sources the first, or rather the first
// for which an earlier stage waits. kNoIndex: there is none.
std::vector<uint32_t> find_readers(const std::vector<ScheduledLine>& lines,
                                   const std::vector<bool>& is_source) {
  const std::vector<bool> is_awaited = find_awaited(lines);
  std::vector<uint32_t> reader(lines.size(), kNoIndex);
  for (uint32_t i = static_cast<uint32_t>(lines.size()); i-- > 0;) {
    const uint32_t through = is_source[i] ? reader[i] : i;
    if (through == kNoIndex) continue;
    for (const uint32_t n : lines[i].needs) {
      if (!is_source[n] || lines[n].microbatch != lines[i].microbatch) continue;
      uint32_t& best = reader[n];
      const auto key = [&](uint32_t r) {
        return std::tuple(!is_awaited[r], r);
      };
      if (best == kNoIndex || key(through) < key(best)) best = through;
    }
  }
  return reader;
}

// Returns, for each line, the line before which it may stand at the latest: for
// a source that of the first line that must stand behind it, for any other line
// itself. In the order by these and by index, all stand behind what they need.
std::vector<uint32_t> find_places(const std::vector<ScheduledLine>& lines,
                                  const std::vector<bool>& is_source) {
  std::vector<uint32_t> place(lines.size(), kNoIndex);
  for (uint32_t i = static_cast<uint32_t>(lines.size()); i-- > 0;) {
    if (!is_source[i] || place[i] == kNoIndex) place[i] = i;
    for (const auto* list : {&lines[i].needs, &lines[i].after}) {
      for (const uint32_t n : *list) place[n] = std::min(place[n], place[i]);
    }
  }
  return place;
}

}  // namespace

std::vector<bool> find_awaited(const std::vector<ScheduledLine>& lines) {
  std::vector<bool> is_awaited(lines.size(), false);
  for (uint32_t i = static_cast<uint32_t>(lines.size()); i-- > 0;) {
    const ScheduledLine& line = lines[i];
    if (!line.is_backward) continue;
    if (Chunks::leaves(line)) is_awaited[i] = true;
    for (const uint32_t made : line.needs) {
      const bool is_same = lines[made].microbatch == line.microbatch;
      if (is_awaited[i] && is_same) is_awaited[made] = true;
    }
  }
  return is_awaited;
}

void delay_sources(std::vector<ScheduledLine>& lines) {
  const std::vector<bool> is_source = find_sources(lines);
  const std::vector<uint32_t> reader = find_readers(lines, is_source);
  const std::vector<uint32_t> place = find_places(lines, is_source);
  for (uint32_t i = 0; i < lines.size(); ++i) {
    if (!is_source[i] || reader[i] == kNoIndex) continue;
    for (const uint32_t n : lines[reader[i]].needs) {
      const bool is_before = std::tie(place[n], n) < std::tie(place[i], i);
      if (!is_source[n] && is_before) lines[i].after.push_back(n);
    }
  }
}

}  // namespace gt::shard
