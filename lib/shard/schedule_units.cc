#include "shard/schedule_units.h"

#include <iterator>

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
  set_bounds(kind);
  find_ends(lines, chunks);
}

void Units::find(const std::vector<ScheduledLine>& lines,
                 const Chunks& chunks) {
  for (uint32_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].is_forward() || lines[i].moves()) continue;
    const int64_t rank = lines[i].ranks.front();
    const int64_t chunk = chunks.of(i);
    const auto [it, is_new] =
        numbers_.try_emplace({lines[i].microbatch, chunk, rank},
                             static_cast<uint32_t>(units_.size()));
    if (is_new) units_.push_back({rank, chunk});
    if (lines[i].occupies_ranks()) of_[i] = it->second;
    ranks_[rank].chunks.insert(chunk);
    chunks_ = std::max(chunks_, chunk + 1);
  }
}

// A line descends from what it reads. But what arrives on other ranks begins
// anew: in the forward part it belongs to the unit there. And what is made of
// several microbatches, as a sum of their gradients, is not one's any more.
void Units::find_ends(const std::vector<ScheduledLine>& lines,
                      const Chunks& chunks) {
  for (uint32_t i = 0; i < lines.size(); ++i) {
    const ScheduledLine& line = lines[i];
    std::vector<uint32_t>& closes = closes_[i];
    if (line.is_forward() && !line.ranks.empty()) {
      const auto it =
          numbers_.find({line.microbatch, chunks.of(i), line.ranks.front()});
      if (it != numbers_.end()) closes.push_back(it->second);
    }
    const bool is_its_own =
        std::all_of(line.needs.begin(), line.needs.end(), [&](uint32_t n) {
          return lines[n].microbatch < 0 ||
                 lines[n].microbatch == line.microbatch;
        });
    if (is_its_own && !Chunks::leaves(line)) {
      for (const uint32_t n : line.needs) {
        closes.insert(closes.end(), closes_[n].begin(), closes_[n].end());
      }
    }
    std::sort(closes.begin(), closes.end());
    closes.erase(std::unique(closes.begin(), closes.end()), closes.end());
    for (const uint32_t u : closes) ++units_[u].left;
  }
}

void Units::set_bounds(const ScheduleKind& kind) {
  for (const auto& [rank, here] : ranks_) {
    most_parts_ =
        std::max(most_parts_, static_cast<int64_t>(here.chunks.size()));
  }
  stages_ = (chunks_ + most_parts_ - 1) / most_parts_;
  for (auto& [rank, here] : ranks_) {
    const PipelinePlace at{chunks_, stages_, *here.chunks.begin(),
                           static_cast<int64_t>(here.chunks.size())};
    here.bound = std::max(kind.bound(at), at.chunks);
    here.open.resize(here.chunks.size());
  }
  for (Unit& unit : units_) {
    const std::set<int64_t>& chunks = ranks_[unit.rank].chunks;
    unit.level = std::distance(chunks.begin(), chunks.find(unit.chunk));
  }
}

}  // namespace gt::shard
