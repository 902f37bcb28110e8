#include "shard/schedule_units.h"

#include <tuple>

namespace gt::shard {
namespace {

bool are_together(const ScheduledLine& a, const ScheduledLine& b) {
  return a.microbatch == b.microbatch && a.is_backward == b.is_backward;
}

}  // namespace

// ---- chunks -----------------------------------------------------------------

Chunks::Chunks(const std::vector<ScheduledLine>& lines) : of_(lines.size(), 0) {
  count_moves(lines);
  join_readers(lines);
  for (const int64_t chunk : of_) count_ = std::max(count_, chunk + 1);
}

void Chunks::count_moves(const std::vector<ScheduledLine>& lines) {
  for (uint32_t i = 0; i < lines.size(); ++i) {
    const ScheduledLine& line = lines[i];
    for (const uint32_t made : line.needs) {
      if (are_together(lines[made], line)) {
        of_[i] = std::max(of_[i], of_[made]);
      }
    }
    if (leaves(line)) ++of_[i];
  }
}

void Chunks::join_readers(const std::vector<ScheduledLine>& lines) {
  std::vector<int64_t> first(lines.size(), INT64_MAX);  // of its readers
  for (uint32_t i = static_cast<uint32_t>(lines.size()); i-- > 0;) {
    const ScheduledLine& line = lines[i];
    if (first[i] != INT64_MAX) of_[i] = std::max(of_[i], first[i]);
    for (const uint32_t made : line.needs) {
      // What moves a value is of the chunk that gets it.
      const bool is_here = are_together(lines[made], line) && !leaves(line);
      if (is_here) first[made] = std::min(first[made], of_[i]);
    }
  }
}

// ---- units ------------------------------------------------------------------

Units::Units(const std::vector<ScheduledLine>& lines, const Chunks& chunks,
             const ScheduleKind& kind)
    : of_(lines.size(), kNoIndex), closes_(lines.size()) {
  find(lines, chunks);
  count_readers(lines);
  set_bounds(kind);
}

void Units::find(const std::vector<ScheduledLine>& lines,
                 const Chunks& chunks) {
  std::map<std::tuple<int64_t, int64_t, int64_t>, uint32_t> known;
  for (uint32_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].is_forward() || lines[i].moves()) continue;
    const int64_t rank = lines[i].ranks.front();
    const int64_t chunk = chunks.of(i);
    const auto [it, is_new] =
        known.try_emplace({lines[i].microbatch, chunk, rank},
                          static_cast<uint32_t>(units_.size()));
    if (is_new) units_.push_back({rank});
    of_[i] = it->second;
    ranks_[rank].chunks.insert(chunk);
    chunks_ = std::max(chunks_, chunk + 1);
  }
}

void Units::count_readers(const std::vector<ScheduledLine>& lines) {
  for (uint32_t i = 0; i < lines.size(); ++i) {
    std::vector<uint32_t>& closes = closes_[i];
    if (of_[i] != kNoIndex) closes.push_back(of_[i]);
    for (const uint32_t made : lines[i].needs) {
      const bool is_reader = of_[made] != kNoIndex && of_[made] != of_[i] &&
                             lines[made].microbatch == lines[i].microbatch;
      if (is_reader) closes.push_back(of_[made]);
    }
    std::sort(closes.begin(), closes.end());
    closes.erase(std::unique(closes.begin(), closes.end()), closes.end());
    for (const uint32_t u : closes) ++units_[u].left;
  }
}

void Units::set_bounds(const ScheduleKind& kind) {
  size_t most = 1;  // chunks of one rank
  for (const auto& [rank, here] : ranks_) {
    most = std::max(most, here.chunks.size());
  }
  const auto v = static_cast<int64_t>(most);
  stages_ = (chunks_ + v - 1) / v;
  for (auto& [rank, here] : ranks_) {
    const PipelinePlace at{chunks_, stages_, *here.chunks.begin(),
                           static_cast<int64_t>(here.chunks.size())};
    here.bound = std::max<int64_t>(kind.bound(at), 1);
  }
}

}  // namespace gt::shard
