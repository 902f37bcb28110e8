#include "check/footprint.h"

#include <algorithm>

#include "stream/ranks.h"

namespace gt::check {
namespace {

template <typename F>
void for_each_piece(const std::vector<ShardedValue>& parts, const Ranks& ranks,
                    F f) {
  const Ranks wanted = ascending(ranks);
  for (const ShardedValue& part : parts) {
    for (size_t p = 0; p < part.pieces.size() && p < part.ranks.size(); ++p) {
      if (place_in(wanted, part.ranks[p])) {
        f(part.ranks[p], part.pieces[p].bytes());
      }
    }
  }
}

}  // namespace

void Footprint::gain(const std::vector<ShardedValue>& parts,
                     const Ranks& ranks) {
  for_each_piece(parts, ranks, [this](int64_t rank, uint64_t bytes) {
    ranks_.add(rank, bytes);
  });
}

void Footprint::lose(const std::vector<ShardedValue>& parts,
                     const Ranks& ranks) {
  for_each_piece(parts, ranks, [this](int64_t rank, uint64_t bytes) {
    ranks_.drop(rank, bytes);
  });
}

void Footprint::send(SymbolId to, const std::vector<Transfer>& transfers) {
  for (const Transfer& t : transfers) {
    Edge& edge = edges_[{t.from, t.to}];
    edge.flying += t.bytes;
    edge.most = std::max(edge.most, edge.flying);
    edge.bytes += t.bytes;
    ++edge.copies;
  }
  std::vector<Transfer>& waiting = on_their_way_[to];
  waiting.insert(waiting.end(), transfers.begin(), transfers.end());
}

void Footprint::arrive(SymbolId name) {
  const auto it = on_their_way_.find(name);
  if (it == on_their_way_.end()) return;
  for (const Transfer& t : it->second) {
    edges_[{t.from, t.to}].flying -= t.bytes;
  }
  on_their_way_.erase(it);
}

std::string Footprint::summary() const {
  std::map<uint64_t, std::vector<int64_t>> by_peak;
  for (size_t rank = 0; rank < ranks_.ranks().size(); ++rank) {
    const HeldBytes::Level& level = ranks_.ranks()[rank];
    if (level.is_used) {
      by_peak[level.most].push_back(static_cast<int64_t>(rank));
    }
  }
  std::string out;
  for (const auto& [bytes, ranks] : by_peak) {
    out += (ranks.size() > 1 ? "ranks " : "rank ") + to_string(ranks) + ": " +
           std::to_string(bytes) + " bytes at most\n";
  }
  for (const auto& [ends, edge] : edges_) {
    out += "rank " + std::to_string(ends.first) + " to " +
           std::to_string(ends.second) + ": " + std::to_string(edge.copies) +
           (edge.copies == 1 ? " copy, " : " copies, ") +
           std::to_string(edge.bytes) + " bytes, " + std::to_string(edge.most) +
           " in flight at most\n";
  }
  return out;
}

}  // namespace gt::check
