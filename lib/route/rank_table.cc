#include "route/rank_table.h"

#include "base/result.h"
#include "net/control_lines.h"

namespace gt::route {

// Adds a line to the news that says which workers these ranks have, with an
// entry for each run of neighbours with the same worker. `ranks` ascend.
void RankTable::tell(std::string_view space, const Ranks& ranks,
                     const Workers& worker_of) {
  if (ranks.empty()) return;
  net::RanksLine line{std::string(space), {}};
  for (size_t i = 0; i < ranks.size();) {
    const uint32_t worker = worker_of[static_cast<size_t>(ranks[i])];
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1 &&
           worker_of[static_cast<size_t>(ranks[end])] == worker) {
      ++end;
    }
    line.blocks.push_back({ranks[i], ranks[end - 1], worker});
    i = end;
  }
  news_.push_back(net::text_of(line));
}

void RankTable::assign(std::string_view space, const Ranks& ranks,
                       int64_t mesh_size) {
  Workers& worker_of = spaces_.obtain(space);
  Ranks fresh;
  for (const int64_t rank : ranks) {
    const auto at = static_cast<size_t>(rank);
    if (at >= worker_of.size()) worker_of.resize(at + 1, kNobody);
    if (worker_of[at] != kNobody) continue;
    worker_of[at] = static_cast<uint32_t>(
        rank < mesh_size ? rank * workers_ / mesh_size : rank % workers_);
    fresh.push_back(rank);
  }
  tell(space, ascending(std::move(fresh)), worker_of);
}

void RankTable::inherit(std::string_view space, std::string_view from) {
  Workers all = spaces_.obtain(from);
  Ranks known;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] != kNobody) known.push_back(static_cast<int64_t>(rank));
  }
  Workers& worker_of = spaces_.obtain(space);
  worker_of = std::move(all);
  tell(space, known, worker_of);
}

void RankTable::forget(std::string_view space) {
  if (!spaces_.erase(space)) return;
  news_.push_back(net::text_of(net::RanksLine{std::string(space), {}}));
}

std::string_view RankTable::space_of(std::string_view name) const {
  return spaces_.space_of(name);
}

uint32_t RankTable::worker(std::string_view space, int64_t rank) const {
  const Workers* worker_of = spaces_.find(space);
  GT_CHECK(worker_of != nullptr);
  return (*worker_of)[static_cast<size_t>(rank)];
}

std::vector<uint32_t> RankTable::hosts(std::string_view space,
                                       const Ranks& ranks) const {
  const Workers* worker_of = spaces_.find(space);
  GT_CHECK(worker_of != nullptr);
  std::vector<bool> is_host(workers_);
  for (const int64_t rank : ranks) {
    is_host[(*worker_of)[static_cast<size_t>(rank)]] = true;
  }
  std::vector<uint32_t> out;
  for (uint32_t w = 0; w < workers_; ++w) {
    if (is_host[w]) out.push_back(w);
  }
  return out;
}

}  // namespace gt::route
