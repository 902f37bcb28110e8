#include "spmd/redistribution.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <optional>

#include "spmd/exchange_bytes.h"

namespace gt {
namespace {

// The most axes for which all orders of moves are tried. It bounds the number
// of orders.
constexpr int kMostSearched = 5;
// Times whose relative difference is less are equal.
constexpr double kTie = 1e-9;

using Cuts = std::vector<AxisCut>;

Cuts cuts_of(const Layout& layout, int32_t dim) {
  Cuts out;
  for (const AxisCut& cut : layout.cuts) {
    if (cut.dim == dim) out.push_back(cut);
  }
  return out;
}

uint32_t bit(size_t axis) { return uint32_t{1} << axis; }
End shard(int32_t dim) { return {'S', dim}; }
const End kWhole{'R', 0};
const End kSummands{'P', 0};

// Finds the moves that lead from a layout towards the target.
class Moves {
 public:
  Moves(const Cluster& cluster, const Machine& machine, const Type& whole,
        const Layout& to)
      : cluster_(cluster), machine_(machine), whole_(whole), to_(to) {}

  // Returns no moves if the target is reached. A move that makes all later
  // moves smaller and costs no message is returned alone. Otherwise, taking the
  // first of the moves each time sends no more, and no more often, than
  // gathering everything and cutting.
  std::vector<Move> from(const Layout& at) {
    at_ = &at;
    out_.clear();
    if (!cluster_.has_same_form(at.set, to_.set)) {
      send_whole();
    } else if (!cut_local()) {
      const uint32_t owed = at.partial & ~to_.partial;
      uint32_t rest = owed;  // axes that must hold the whole sum
      for (const AxisCut& cut : to_.cuts) rest &= ~bit(cut.axis);
      sum_over(owed);
      enter_by_messages();
      if (rest != owed) sum_over(rest);
      leave();
      if (at.set != to_.set) copy();
      if (out_.empty()) make_summands();
    }
    return std::move(out_);
  }

  Move extreme(const Layout& at, size_t axis, std::string_view combine) {
    at_ = &at;
    out_.clear();
    add("all_reduce", bit(axis), {'V', 0}, kWhole, at);
    out_[0].combine = combine;
    return out_[0];
  }

 private:
  size_t dims() const { return whole_.shape.size(); }
  int64_t size(int32_t dim) const {
    return whole_.shape[static_cast<size_t>(dim)];
  }
  void add(std::string_view op, uint32_t axes, End src, End dst, Layout after) {
    Move move{op, axes, src, dst, *at_, std::move(after)};
    set_price(move, cluster_, machine_, whole_);
    out_.push_back(std::move(move));
  }

  // ---- what cuts ------------------------------------------------------------

  // True if the cuts of the dimension are the first cuts that the target has
  // there.
  bool is_prefix(int32_t dim) const {
    const Cuts have = cuts_of(*at_, dim);
    const Cuts want = cuts_of(to_, dim);
    if (have.size() > want.size()) return false;
    Layout a{at_->set, 0, have};
    Layout b{at_->set, 0, {want.begin(), want.begin() + std::ssize(have)}};
    return cluster_.is_same_cut(a, b, dim, size(dim));
  }

  // Returns the next cut of a dimension that lacks some.
  std::optional<AxisCut> missing(size_t d) const {
    const auto dim = static_cast<int32_t>(d);
    const Cuts want = cuts_of(to_, dim);
    const size_t have = cuts_of(*at_, dim).size();
    if (have >= want.size() || !is_prefix(dim)) return std::nullopt;
    return want[have];
  }

  bool cut_local() {
    for (size_t d = 0; d < dims(); ++d) {
      const std::optional<AxisCut> cut = missing(d);
      if (!cut || at_->cut_of(cut->axis) != nullptr ||
          at_->is_partial(cut->axis)) {
        continue;
      }
      Layout after = *at_;
      after.add(*cut);
      add("convert", bit(cut->axis), kWhole, shard(cut->dim), after);
      return true;
    }
    return false;
  }

  void enter_by_messages() {
    for (size_t d = 0; d < dims(); ++d) {
      const std::optional<AxisCut> cut = missing(d);
      if (!cut) continue;
      const AxisCut* now = at_->cut_of(cut->axis);
      if (now != nullptr && !is_innermost(*now)) continue;
      Layout after = *at_;
      after.partial &= ~bit(cut->axis);
      after.remove(cut->axis);
      after.add(*cut);
      const bool sums = now == nullptr;
      add(sums ? "reduce_scatter" : "all_to_all", bit(cut->axis),
          sums ? kSummands : shard(now->dim), shard(cut->dim), after);
    }
  }

  bool is_innermost(const AxisCut& cut) const {
    return cuts_of(*at_, cut.dim).back() == cut;
  }

  // ---- what owes a sum ------------------------------------------------------

  void sum_over(uint32_t axes) {
    if (axes == 0) return;
    Layout after = *at_;
    after.partial &= ~axes;
    add("all_reduce", axes, kSummands, kWhole, after);
  }

  void make_summands() {
    for (size_t a = 0; a < cluster_.axes(); ++a) {
      if (!to_.is_partial(a) || at_->is_partial(a)) continue;
      Layout after = *at_;
      after.partial |= bit(a);
      add("convert", bit(a), kWhole, kSummands, after);
      return;
    }
  }

  // ---- what no longer cuts --------------------------------------------------

  void leave() {
    for (size_t d = 0; d < dims(); ++d) {
      const auto dim = static_cast<int32_t>(d);
      if (is_prefix(dim)) continue;
      const AxisCut last = cuts_of(*at_, dim).back();
      if (to_.is_partial(last.axis)) {
        put_among_zeros(last);
      } else {
        gather(last);
      }
    }
  }

  void gather(const AxisCut& cut) {
    Layout after = *at_;
    after.remove(cut.axis);
    add("all_gather", bit(cut.axis), shard(cut.dim), kWhole, after);
  }

  // Leaves the piece on its rank, as a partial sum with zeros around it.
  void put_among_zeros(const AxisCut& cut) {
    Layout after = *at_;
    after.remove(cut.axis);
    after.partial |= bit(cut.axis);
    add("convert", bit(cut.axis), shard(cut.dim), kSummands, after);
  }

  // ---- ranks ----------------------------------------------------------------

  // Copies to ranks of the same form, each to its own, once the pending sums
  // that the target does not have are taken.
  void copy() {
    if ((at_->partial & ~to_.partial) != 0) return;
    Layout after = *at_;
    after.set = to_.set;
    add("copy", 0, kWhole, kWhole, after);
  }

  // Sends to ranks of another form: one rank sends to all others.
  void send_whole() {
    if (at_->partial != 0) {
      sum_over(at_->partial);
    } else if (!at_->cuts.empty()) {
      gather(at_->cuts.back());
    } else {
      Layout after = *at_;
      after.set = to_.set;
      add("copy", 0, kWhole, kWhole, after);
    }
  }

  const Cluster& cluster_;
  const Machine& machine_;
  const Type& whole_;
  const Layout& to_;
  const Layout* at_ = nullptr;
  std::vector<Move> out_;
};

// True if the target's ranks already hold what they need: along the axes on
// which the set narrows, all ranks hold the same.
bool holds_what(const Cluster& cluster, const Layout& from, const Layout& to) {
  if (from.set == to.set) return true;
  if (!includes(cluster.ranks(from.set), cluster.ranks(to.set))) return false;
  for (size_t a = 0; a < cluster.axes(); ++a) {
    const bool narrows = cluster.count(from.set, a) != cluster.count(to.set, a);
    if (narrows && (from.cut_of(a) != nullptr || from.is_partial(a))) {
      return false;
    }
  }
  return true;
}

// Returns the layout without the axes along which its set has one coordinate:
// there one piece is the whole.
Layout extended(const Cluster& cluster, Layout layout) {
  for (size_t a = 0; a < cluster.axes(); ++a) {
    if (cluster.count(layout.set, a) > 1) continue;
    layout.remove(a);
    layout.partial &= ~bit(a);
  }
  return layout;
}

int axes_that_differ(const Layout& a, const Layout& b) {
  uint32_t axes = a.partial ^ b.partial;
  for (const Layout* layout : {&a, &b}) {
    for (const AxisCut& cut : layout->cuts) axes |= bit(cut.axis);
  }
  return std::popcount(axes);
}

// Finds the shortest path over moves. No move leads back, so the best way from
// a layout is found once.
class Search {
 public:
  Search(const Cluster& cluster, const Machine& machine, const Type& whole,
         const Layout& from, const Layout& to)
      : cluster_(cluster),
        to_(to),
        moves_(cluster, machine, whole, to),
        is_wide_(axes_that_differ(from, to) > kMostSearched) {}

  std::vector<Move> path(const Layout& from) {
    std::vector<Move> out;
    const Step* step = &best(from);
    while (step->next) {
      out.push_back(*step->next);
      step = &best(step->next->after);
    }
    return out;
  }

 private:
  struct Step {
    Layout at;
    double seconds = 0;  // the cost of the way to the target
    std::optional<Move> next;
  };

  const Step& best(Layout at) {
    if (holds_what(cluster_, at, to_)) at.set = to_.set;
    for (const Step& step : known_) {
      if (step.at == at) return step;
    }
    Step step{at, 0, {}};
    std::vector<Move> ways = moves_.from(at);
    if (is_wide_ && ways.size() > 1) ways.resize(1);
    for (Move& move : ways) {
      const double seconds = move.seconds + best(move.after).seconds;
      if (step.next && seconds >= step.seconds * (1 - kTie)) continue;
      step.seconds = seconds;
      step.next = std::move(move);
    }
    known_.push_back(std::move(step));
    return known_.back();
  }

  const Cluster& cluster_;
  const Layout& to_;
  Moves moves_;
  const bool is_wide_;  // too many orders: only the first move is tried
  std::deque<Step> known_;
};

}  // namespace

std::vector<Move> redistribution(const Cluster& cluster, const Machine& machine,
                                 const Type& whole, const Layout& from,
                                 const Layout& to) {
  if (from == to) return {};
  const Layout begin = extended(cluster, from);
  const Layout end = extended(cluster, to);
  return Search(cluster, machine, whole, begin, end).path(begin);
}

Way nearest(const Cluster& cluster, const Machine& machine, const Type& whole,
            const std::vector<Layout>& layouts, const Layout& wanted) {
  Way best;
  double least = 0;
  for (size_t i = 0; i < layouts.size(); ++i) {
    auto moves = redistribution(cluster, machine, whole, layouts[i], wanted);
    const double seconds = seconds_of(moves);
    if (i > 0 && seconds >= least) continue;
    best = {i, std::move(moves)};
    least = seconds;
  }
  return best;
}

Move extreme(const Cluster& cluster, const Machine& machine, const Type& whole,
             const Layout& at, size_t axis, std::string_view combine) {
  return Moves(cluster, machine, whole, at).extreme(at, axis, combine);
}

}  // namespace gt
