#include "shard/redistribute.h"

#include <algorithm>

#include "ops/shape_rules.h"
#include "ops/table.h"

namespace gt {
namespace {

using Cuts = std::vector<AxisCut>;

Cuts of_dim(const Layout& layout, int32_t dim) {
  Cuts out;
  for (const AxisCut& cut : layout.cuts) {
    if (cut.dim == dim) out.push_back(cut);
  }
  return out;
}

class Mover {
 public:
  Mover(const Cluster& cluster, const Machine& machine, const Type& whole,
        const Layout& from)
      : cluster_(cluster), machine_(machine), whole_(whole), at_(from) {}

  std::vector<Move> take() { return std::move(moves_); }

  void go(const Layout& to) {
    if (!is_within(to)) go_to_set(to);
    at_.set = to.set;
    leave_dims(to);
    enter_dims(to);
    sum(at_.partial & ~to.partial);
    for (size_t a = 0; a < cluster_.axes(); ++a) {
      if (!at_.is_partial(a) && to.is_partial(a)) make_summands(a);
    }
  }

 private:
  double bytes() const { return cluster_.piece_bytes(at_, whole_); }
  double ring(size_t axis) const {
    const auto n = static_cast<double>(cluster_.count(at_.set, axis));
    return (n - 1) / n;
  }
  int64_t size(int32_t dim) const {
    return whole_.shape[static_cast<size_t>(dim)];
  }
  std::string over(size_t axis) const {
    return " over=" + cluster_.axis_name(axis);
  }
  // What a collective with uneven parts has to be told: `cut` is the side of it
  // that is cut.
  std::string stated(const Layout& cut, int32_t dim) const {
    return cluster_.is_even(cut, dim, size(dim)) ? "" : stated(cut);
  }
  std::string stated(const Layout& cut) const {
    return " split=" + cluster_.split_text(cut) +
           " shape=" + list_text(whole_.shape);
  }
  bool is_even_on(const Layout& layout, int32_t a, int32_t b) const {
    return cluster_.is_even(layout, a, size(a)) &&
           cluster_.is_even(layout, b, size(b));
  }

  void add(const char* op, std::string keys, Layout after, double sent) {
    const double larger =
        std::max(bytes(), cluster_.piece_bytes(after, whole_));
    double seconds = larger / machine_.memory_bandwidth;
    if (sent > 0) {
      seconds = machine_.latency + sent / machine_.bandwidth;
    } else if (collective_of(op) != Collective::kConvert) {
      seconds = machine_.latency;  // of nothing, but a message all the same
    }
    moves_.push_back({op, std::move(keys), after, "", seconds, sent});
    at_ = std::move(after);
  }

  // ---- ranks ----------------------------------------------------------------

  // The target's ranks already hold what they need: where the set narrows, all
  // is alike.
  bool is_within(const Layout& to) const {
    if (at_.set == to.set) return true;
    if (!includes(cluster_.ranks(at_.set), cluster_.ranks(to.set))) {
      return false;
    }
    for (size_t a = 0; a < cluster_.axes(); ++a) {
      const bool narrows =
          cluster_.count(at_.set, a) != cluster_.count(to.set, a);
      if (narrows && (at_.cut_of(a) != nullptr || at_.is_partial(a))) {
        return false;
      }
    }
    return true;
  }

  void go_to_set(const Layout& to) {
    sum(at_.partial);
    const bool alike = cluster_.has_same_form(at_.set, to.set);
    if (!alike) {
      while (!at_.cuts.empty()) gather(at_.cuts.back());
    }
    Layout after = at_;
    after.set = to.set;
    const Ranks& from = cluster_.ranks(at_.set);
    std::string source =
        alike ? cluster_.ranks_text(at_.set) : std::to_string(from[0]);
    // Where forms differ, one rank sends to all others.
    const double targets =
        alike ? 1.0
              : static_cast<double>(
                    without(cluster_.ranks(to.set), {from[0]}).size());
    const double sent = bytes() * targets;
    add("copy", "", std::move(after), std::max(sent, 1.0));
    moves_.back().source_ranks = std::move(source);
  }

  // ---- axes -----------------------------------------------------------------

  // Everything beyond what both cut alike is put together, the innermost first.
  void leave_dims(const Layout& to) {
    for (size_t d = 0; d < whole_.shape.size(); ++d) {
      const auto dim = static_cast<int32_t>(d);
      while (!is_prefix(dim, to)) {
        const AxisCut last = of_dim(at_, dim).back();
        const AxisCut* next = to.cut_of(last.axis);
        if (next != nullptr && can_exchange(last, *next, to)) {
          exchange(last, *next);
        } else {
          gather(last);
        }
      }
    }
  }

  // Whether the cuts of the dimension begin those of the target.
  bool is_prefix(int32_t dim, const Layout& to) const {
    const Cuts have = of_dim(at_, dim);
    const Cuts want = of_dim(to, dim);
    if (have.size() > want.size()) return false;
    Layout a, b;
    a.set = b.set = at_.set;
    a.cuts = have;
    b.cuts = Cuts(want.begin(),
                  want.begin() + static_cast<std::ptrdiff_t>(have.size()));
    return cluster_.is_same_cut(a, b, dim, size(dim));
  }

  void gather(const AxisCut& cut) {
    Layout after = at_;
    after.remove(cut.axis);
    const std::string dim = std::to_string(cut.dim);
    add("all_gather",
        over(cut.axis) + " src=S" + dim + " dst=R" + stated(at_, cut.dim),
        after, ring(cut.axis) * cluster_.piece_bytes(after, whole_));
  }

  // From one dimension to another in one go, where the new cut is next on its
  // dimension.
  bool can_exchange(const AxisCut& from, const AxisCut& to,
                    const Layout& target) const {
    if (from.dim == to.dim) return false;
    const Cuts have = of_dim(at_, to.dim);
    const Cuts want = of_dim(target, to.dim);
    if (have.size() >= want.size() || !(want[have.size()] == to)) return false;
    return is_prefix(to.dim, target);
  }

  void exchange(const AxisCut& from, const AxisCut& to) {
    Layout after = at_;
    after.remove(from.axis);
    after.add(to);
    const bool is_even = is_even_on(at_, from.dim, to.dim) &&
                         is_even_on(after, from.dim, to.dim);
    add("all_to_all",
        over(from.axis) + " src=S" + std::to_string(from.dim) + " dst=S" +
            std::to_string(to.dim) + (is_even ? "" : stated(after)),
        after, ring(from.axis) * bytes());
  }

  void enter_dims(const Layout& to) {
    for (size_t d = 0; d < whole_.shape.size(); ++d) {
      const auto dim = static_cast<int32_t>(d);
      const Cuts want = of_dim(to, dim);
      for (size_t i = of_dim(at_, dim).size(); i < want.size(); ++i) {
        enter(want[i]);
      }
    }
  }

  void enter(const AxisCut& cut) {
    Layout after = at_;
    const bool summed = at_.is_partial(cut.axis);
    after.partial &= ~(1U << cut.axis);
    after.add(cut);
    const std::string dst = " dst=S" + std::to_string(cut.dim);
    const std::string told = stated(after, cut.dim);
    if (summed) {
      add("reduce_scatter", over(cut.axis) + dst + told, after,
          ring(cut.axis) * bytes());
    } else {
      add("convert", over(cut.axis) + " src=R" + dst + told, after, 0);
    }
  }

  // Over all of the axes at once.
  void sum(uint32_t axes) {
    Layout after = at_;
    std::string keys;
    double ranks = 1;
    for (size_t a = 0; a < cluster_.axes(); ++a) {
      if ((axes >> a & 1) == 0) continue;
      after.partial &= ~(1U << a);
      keys += (keys.empty() ? over(a) : "+" + cluster_.axis_name(a));
      ranks *= static_cast<double>(cluster_.count(at_.set, a));
    }
    if (keys.empty()) return;
    add("all_reduce", keys, after, 2 * (ranks - 1) / ranks * bytes());
  }

  void make_summands(size_t axis) {
    Layout after = at_;
    after.partial |= 1U << axis;
    add("convert", over(axis) + " src=R dst=P", after, 0);
  }

  const Cluster& cluster_;
  const Machine& machine_;
  const Type& whole_;
  Layout at_;
  std::vector<Move> moves_;
};

}  // namespace

std::vector<Move> moves(const Cluster& cluster, const Machine& machine,
                        const Type& whole, const Layout& from,
                        const Layout& to) {
  if (from == to) return {};
  Mover mover(cluster, machine, whole, from);
  mover.go(to);
  return mover.take();
}

double seconds_of(const std::vector<Move>& moves) {
  double sum = 0;
  for (const Move& move : moves) sum += move.seconds;
  return sum;
}

}  // namespace gt
