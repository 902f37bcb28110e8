#include "log/makers.h"

#include "stream/ranks.h"

namespace gt::log {
namespace {

// Returns the rank from which one rank of a line gets an operand: the same
// rank; or, for a copy from elsewhere, the rank at the same position, or the
// only one.
std::string source_rank(std::string_view set, const std::string& rank,
                        size_t place, size_t ranks) {
  if (set.empty() || set == rank) return rank;
  const auto parsed = parse_ranks(set);
  if (!parsed.ok()) return rank;
  const std::vector<int64_t>& all = parsed.value();
  for (const int64_t one : all) {
    if (std::to_string(one) == rank) return rank;
  }
  return std::to_string(all.size() == ranks ? all[place] : all[0]);
}

}  // namespace

std::string Makers::key_of(std::string_view name, std::string_view rank,
                           std::string_view worker) {
  std::string key(name);
  for (const std::string_view part : {rank, worker}) {
    key += '@';
    key += part;
  }
  return key;
}

Makers::Made Makers::at(const std::string& key) const {
  const auto it = made_.find(key);
  return it == made_.end() ? Made{} : it->second;
}

// A worker computes with the value that it has; an exchange takes the newest
// value that any worker has.
Makers::Made Makers::maker_of(const Operand& operand, const Seat& seat) const {
  const std::string rank =
      source_rank(operand.ranks, seat.rank, seat.place, seat.ranks);
  Made maker = at(key_of(operand.text, rank, seat.worker));
  if (!seat.crosses) return maker;
  for (const std::string& worker : workers_) {
    const Made other = at(key_of(operand.text, rank, worker));
    if (other.event == kNobody) continue;
    if (maker.event == kNobody || other.start > maker.start) maker = other;
  }
  return maker;
}

std::vector<uint32_t> Makers::take(const Line& line, const Seat& seat,
                                   uint32_t event, uint64_t start) {
  std::vector<uint32_t> out;
  Made maker{event, start};
  for (const Operand& operand : line.operands) {
    if (operand.kind != Operand::Kind::kName) continue;
    const Made from = maker_of(operand, seat);
    if (from.event == kNobody) continue;
    if (event == kNobody) {
      maker = from;
    } else {
      out.push_back(from.event);
    }
  }
  if (made_.size() > kMost) made_.clear();
  for (const Name& name : line.results) {
    const std::string key = key_of(name.text, seat.rank, seat.worker);
    if (maker.event == kNobody) {
      made_.erase(key);
    } else {
      made_.insert_or_assign(key, maker);
    }
  }
  return out;
}

}  // namespace gt::log
