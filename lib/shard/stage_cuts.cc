#include "shard/stage_cuts.h"

#include <algorithm>
#include <limits>

#include "base/result.h"

namespace gt::shard {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class PartCuts {
 public:
  PartCuts(const std::vector<LayerCost>& layers,
           const std::vector<StagePart>& parts)
      : parts_(parts), sums_(layers.size() + 1) {
    for (size_t i = 0; i < layers.size(); ++i) {
      sums_[i + 1].seconds = sums_[i].seconds + layers[i].seconds;
      sums_[i + 1].kept = sums_[i].kept + layers[i].kept;
      sums_[i + 1].open = sums_[i].open + layers[i].open;
    }
  }

  std::vector<size_t> run() {
    const auto excess = [this](size_t part, size_t from, size_t to) {
      const double memory = parts_[part].memory;
      return memory == 0 ? 0 : std::max(0.0, bytes(part, from, to) - memory);
    };
    const auto seconds = [this](size_t /*part*/, size_t from, size_t to) {
      return sums_[to].seconds - sums_[from].seconds;
    };
    const auto all = [](size_t, size_t, size_t) { return true; };
    const double least = cut(excess, all);
    const auto fits = [&](size_t part, size_t from, size_t to) {
      return excess(part, from, to) <= least;
    };
    const double fastest = cut(seconds, fits);
    cut([this](size_t part, size_t from,
               size_t to) { return bytes(part, from, to); },
        [&](size_t part, size_t from, size_t to) {
          return fits(part, from, to) && seconds(part, from, to) <= fastest;
        });
    return chosen();
  }

 private:
  double bytes(size_t part, size_t from, size_t to) const {
    return sums_[to].kept - sums_[from].kept +
           static_cast<double>(parts_[part].open) *
               (sums_[to].open - sums_[from].open);
  }

  // Finds the cut whose largest cost of a part is least, by dynamic programming
  // over the parts, and returns that cost.
  template <typename Cost, typename Allowed>
  double cut(const Cost& cost, const Allowed& allowed) {
    const size_t n = sums_.size() - 1;
    std::vector<double> least(n + 1, kNever);
    least[0] = 0;
    begins_.assign(parts_.size(), std::vector<size_t>(n + 1, 0));
    for (size_t part = 0; part < parts_.size(); ++part) {
      std::vector<double> next(n + 1, kNever);
      for (size_t to = part + 1; to <= n; ++to) {
        for (size_t from = part; from < to; ++from) {
          if (least[from] == kNever || !allowed(part, from, to)) continue;
          const double most = std::max(least[from], cost(part, from, to));
          if (most >= next[to]) continue;
          next[to] = most;
          begins_[part][to] = from;
        }
      }
      least = std::move(next);
    }
    return least[n];
  }

  std::vector<size_t> chosen() const {
    std::vector<size_t> of(sums_.size() - 1);
    size_t to = of.size();
    for (size_t part = parts_.size(); part-- > 0;) {
      const size_t from = begins_[part][to];
      std::fill(of.begin() + static_cast<std::ptrdiff_t>(from),
                of.begin() + static_cast<std::ptrdiff_t>(to), part);
      to = from;
    }
    return of;
  }

  const std::vector<StagePart>& parts_;
  std::vector<LayerCost> sums_;  // of the first layers, by their number
  // By part, then by where it ends: where it begins in the best cut.
  std::vector<std::vector<size_t>> begins_;
};

}  // namespace

std::vector<size_t> cut_into_parts(const std::vector<LayerCost>& layers,
                                   const std::vector<StagePart>& parts) {
  GT_CHECK(!parts.empty() && layers.size() >= parts.size());
  return PartCuts(layers, parts).run();
}

std::vector<StagePart> parts_of(int64_t stages, int64_t count, bool returns) {
  std::vector<StagePart> parts;
  for (int64_t part = 0; part < count; ++part) {
    const bool is_back = returns && part / stages % 2 == 1;
    const int64_t at = part % stages;
    parts.push_back({is_back ? stages - 1 - at : at});
  }
  return parts;
}

}  // namespace gt::shard
