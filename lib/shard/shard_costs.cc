#include "shard/shard_costs.h"

#include <algorithm>
#include <cstdio>

#include "shard/plan_cache.h"
#include "spmd/exchange_bytes.h"

namespace gt::shard {
namespace {

// Says of which ranks the number of bytes is true.
const char* senders(const std::vector<double>& by_rank, double most) {
  const auto sends_most = [&](double bytes) { return bytes == most; };
  const auto sends_all_or_none = [&](double bytes) {
    return bytes == most || bytes == 0;
  };
  if (std::ranges::all_of(by_rank, sends_most)) return "from each rank";
  if (std::ranges::all_of(by_rank, sends_all_or_none)) {
    return "from each sender";
  }
  return "from a rank at most";
}

}  // namespace

const std::vector<uint64_t>& MovesSent::bytes(const Move& move,
                                              const Type& whole) {
  if (known_.size() >= kMost) known_.clear();
  PlanKey key;
  key.add(move.op, move.axes, move.before, move.after, whole);
  const auto [it, is_new] = known_.try_emplace(key.text());
  if (is_new) it->second = sent_bytes(move, cluster_, whole);
  return it->second;
}

void SentByRank::add(int64_t rank, double bytes) {
  const auto place = static_cast<size_t>(rank);
  if (place >= by_rank_.size()) by_rank_.resize(place + 1);
  by_rank_[place] += bytes;
}

void SentByRank::add(uint32_t set, const Ranks& ranks,
                     const std::vector<uint64_t>& bytes) {
  if (bytes.size() == 1) {
    by_set_[set] += static_cast<double>(bytes[0]);
    return;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    add(ranks[i], static_cast<double>(bytes[i]));
  }
}

void SentByRank::add(const SentByRank& other, double times) {
  for (const auto& [set, bytes] : other.by_set_) by_set_[set] += bytes * times;
  by_rank_.resize(std::max(by_rank_.size(), other.by_rank_.size()));
  for (size_t rank = 0; rank < other.by_rank_.size(); ++rank) {
    by_rank_[rank] += other.by_rank_[rank] * times;
  }
}

std::vector<double> SentByRank::by_rank(const Cluster& cluster) const {
  std::vector<double> all = by_rank_;
  all.resize(cluster.ranks(0).size());
  for (const auto& [set, bytes] : by_set_) {
    for (const int64_t rank : cluster.ranks(set)) {
      all[static_cast<size_t>(rank)] += bytes;
    }
  }
  return all;
}

ShardCosts ShardCosts::since(const ShardCosts& before) const {
  ShardCosts out = *this;
  out.bytes -= before.bytes;
  out.seconds -= before.seconds;
  for (const auto& [op, moved] : before.traffic) {
    Traffic& left = out.traffic[op];
    left.lines -= moved.lines;
    left.sent.add(moved.sent, -1);
  }
  return out;
}

void ShardCosts::add(const ShardCosts& round, double times) {
  bytes += round.bytes * times;
  seconds += round.seconds * times;
  for (const auto& [op, moved] : round.traffic) {
    Traffic& sum = traffic[op];
    sum.lines +=
        static_cast<uint64_t>(static_cast<double>(moved.lines) * times);
    sum.sent.add(moved.sent, times);
  }
}

std::string traffic_text(const ShardCosts& costs, const Cluster& cluster) {
  std::vector<double> all(cluster.ranks(0).size());
  std::string out;
  char line[160];
  for (const auto& [op, traffic] : costs.traffic) {
    const std::vector<double> sent = traffic.sent.by_rank(cluster);
    const double most = *std::ranges::max_element(sent);
    std::ranges::transform(all, sent, all.begin(), std::plus<>());
    std::snprintf(line, sizeof line, "gt-shard: %s: %llu line%s, %.6g MB %s\n",
                  op.c_str(), static_cast<unsigned long long>(traffic.lines),
                  traffic.lines == 1 ? "" : "s", most / 1e6,
                  senders(sent, most));
    out += line;
  }
  const auto most = std::ranges::max_element(all);
  if (most == all.end() || *most == 0) return out;
  double sum = 0;
  for (const double bytes : all) sum += bytes;
  std::snprintf(line, sizeof line,
                "gt-shard: sent: rank %td sends most, %.6g MB of %.6g MB in "
                "all\n",
                most - all.begin(), *most / 1e6, sum / 1e6);
  return out + line;
}

}  // namespace gt::shard
