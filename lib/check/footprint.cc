#include "check/footprint.h"

#include "stream/ranks.h"

namespace gt {
namespace {

template <typename F>
void for_each_piece(const std::vector<ShardedValue>& parts, F f) {
  for (const ShardedValue& part : parts) {
    for (size_t p = 0; p < part.pieces.size() && p < part.ranks.size(); ++p) {
      f(part.ranks[p], part.pieces[p].bytes());
    }
  }
}

}  // namespace

void Footprint::bind(const std::vector<ShardedValue>& before,
                     const std::vector<ShardedValue>& after) {
  for_each_piece(
      after, [this](int64_t rank, uint64_t bytes) { ranks_[rank].add(bytes); });
  for_each_piece(before, [this](int64_t rank, uint64_t bytes) {
    ranks_[rank].now -= bytes;
  });
}

void Footprint::send(const Slot* to, const std::vector<Transfer>& transfers) {
  for (const Transfer& t : transfers) {
    Edge& edge = edges_[{t.from, t.to}];
    edge.flying.add(t.bytes);
    edge.bytes += t.bytes;
    ++edge.copies;
  }
  std::vector<Transfer>& waiting = on_their_way_[to];
  waiting.insert(waiting.end(), transfers.begin(), transfers.end());
}

void Footprint::arrive(const Slot* slot) {
  const auto it = on_their_way_.find(slot);
  if (it == on_their_way_.end()) return;
  for (const Transfer& t : it->second) {
    edges_[{t.from, t.to}].flying.now -= t.bytes;
  }
  on_their_way_.erase(it);
}

std::string Footprint::summary() const {
  std::map<uint64_t, std::vector<int64_t>> by_peak;
  for (const auto& [rank, level] : ranks_) by_peak[level.most].push_back(rank);
  std::string out;
  for (const auto& [bytes, ranks] : by_peak) {
    out += (ranks.size() > 1 ? "ranks " : "rank ") + to_string(ranks) + ": " +
           std::to_string(bytes) + " bytes at most\n";
  }
  for (const auto& [ends, edge] : edges_) {
    out += "rank " + std::to_string(ends.first) + " to " +
           std::to_string(ends.second) + ": " + std::to_string(edge.copies) +
           (edge.copies == 1 ? " copy, " : " copies, ") +
           std::to_string(edge.bytes) + " bytes, " +
           std::to_string(edge.flying.most) + " in flight at most\n";
  }
  return out;
}

}  // namespace gt
