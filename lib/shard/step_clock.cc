#include "shard/step_clock.h"

#include <algorithm>

#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

// Returns when the value is there on the ranks of a class, or null.
template <typename Times>
auto* time_at(Times& times, uint32_t at) {
  const auto found =
      std::ranges::find(times, at, [](const auto& time) { return time.first; });
  return found == times.end() ? nullptr : &found->second;
}

}  // namespace

void StepClock::take(std::string_view lines) {
  Line line;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    const bool is_line = parse_line(lines.substr(0, end), line).ok() &&
                         line.kind == Line::Kind::kInstruction;
    if (is_line) {
      if (const auto where = line_ranks(line); where.ok()) {
        take_line(line, where.value());
      }
    }
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

void StepClock::take_line(const Line& line, const LineRanks& where) {
  const LineSize size = sizes_.take(line, where);
  if (line.results.empty()) return;
  const double seconds = size.seconds;
  const auto is_zero = [](uint64_t bytes) { return bytes == 0; };
  if (std::ranges::all_of(size.bytes[0], is_zero)) ++unknown_;
  const bool moves = crosses_ranks(line, where);
  const double arrived = moves ? move(line, where, seconds) : 0;
  for (const uint32_t at : classes_of(ascending(where.ranks))) {
    if (moves) clocks_[at].receives = arrived;
    const double done = moves ? arrived : compute(line, at, seconds);
    bind(line, at, done);
    end_ = std::max(end_, done);
  }
}

double StepClock::move(const Line& line, const LineRanks& where,
                       double seconds) {
  double begin = 0;
  for (size_t o = 0; o < line.operands.size(); ++o) {
    const Times* times = times_of(line.operands[o].text);
    if (where.operands[o].empty() || times == nullptr) continue;
    for (const uint32_t at : classes_of(ascending(where.operands[o]))) {
      if (const double* time = time_at(*times, at)) {
        begin = std::max(begin, *time);
      }
    }
  }
  for (const uint32_t at : classes_of(ascending(where.ranks))) {
    begin = std::max({begin, clocks_[at].computes, clocks_[at].receives});
  }
  return begin + seconds;
}

double StepClock::compute(const Line& line, uint32_t at, double seconds) {
  double ready = 0;
  for (const Operand& operand : line.operands) {
    if (operand.kind != Operand::Kind::kName) continue;
    const Times* times = times_of(operand.text);
    const double* time = times == nullptr ? nullptr : time_at(*times, at);
    if (time != nullptr) ready = std::max(ready, *time);
  }
  if (seconds == 0) return ready;
  double& free = clocks_[at].computes;
  free = std::max(free, ready) + seconds;
  return free;
}

// Returns the classes that the ranks consist of. One that was split from
// another has the same clock and values.
const std::vector<uint32_t>& StepClock::classes_of(const Ranks& ranks) {
  const uint32_t set = classes_.set_of(ranks);
  while (clocks_.size() < classes_.size()) {
    const auto made = static_cast<uint32_t>(clocks_.size());
    const uint32_t from = classes_.origin(made);
    if (from == RankClasses::kNone) {
      clocks_.emplace_back();
      continue;
    }
    clocks_.push_back(Clock(clocks_[from]));
    for (auto& [name, times] : names_) {
      if (const double* time = time_at(times, from)) {
        times.emplace_back(made, double(*time));
      }
    }
  }
  return classes_.classes(set);
}

const StepClock::Times* StepClock::times_of(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

void StepClock::bind(const Line& line, uint32_t at, double time) {
  for (const Name& result : line.results) {
    Times& times = names_[std::string(result.text)];
    if (double* known = time_at(times, at)) {
      *known = time;
    } else {
      times.emplace_back(at, time);
    }
  }
}

}  // namespace gt::shard
