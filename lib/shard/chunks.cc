#include "shard/chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ops/shape_rules.h"
#include "shard/plan.h"
#include "spmd/redistribution.h"

namespace gt::shard {
namespace {

constexpr int64_t kMostByCost = 32;
constexpr size_t kOperand = Chunking::kOperand;
constexpr double kNear = 1.02;  // times that are about equal
constexpr double kGain = 0.97;  // of the time without chunks, at most
constexpr double kGrowth = 16;  // of a chunk over the one before, at most

// Looks for the chunks of a product that has a weight.
class ChunkSearch {
 public:
  ChunkSearch(const Cluster& cluster, const Machine& machine,
              const LayoutsByShape& gathered, const LineWork& work)
      : cluster_(cluster),
        machine_(machine),
        work_(work),
        call_(work.call),
        plan_(work.plan()),
        weight_(static_cast<size_t>(work.call.op->row->weight_operand)) {
    if (plan_.results[0].partial != 0 && !work.joins_sum) find_sum(gathered);
  }

  Result<Chunking> run(int64_t wanted) {
    if (work_.line.note("grad") != nullptr) {
      return Error{"the sum of a gradient travels beside the backward"};
    }
    // The parts of a dimension cannot be told in a view without elements.
    if (call_.type(kOperand).elements() == 0 ||
        call_.results[0].elements() == 0) {
      return Error{"it has no elements"};
    }
    if (!work_.value(weight_)->is_source) {
      return Error{"what it multiplies with is no parameter"};
    }
    if (!find_moves()) {
      return Error{"its operand is not gathered, but summed or sent elsewhere"};
    }
    if (!is_gathered_ && work_.joins_sum) {
      return Error{"one sum is taken of it and others behind it"};
    }
    if (!is_gathered_ && !sum_) {
      return Error{"nothing travels right before or right behind it"};
    }
    if (wanted == kChunksByCost) find_seconds();
    std::optional<Chunking> best;
    for (const Label& label : index_rule(call_)) {
      std::optional<Chunking> found = along(label, wanted);
      if (found && (!best || is_better(*found, *best, wanted))) best = found;
    }
    if (!best)
      return Error{"no dimension that it keeps can be cut into chunks"};
    const double whole = product_ + travel_;
    if (wanted == kChunksByCost && seconds(*best) >= kGain * whole) {
      return Error{
          fmt::format("{} chunks would take {:.3g} us, and it {:.3g} us",
                      best->count, seconds(*best) * 1e6, whole * 1e6)};
    }
    return *best;
  }

 private:
  void find_sum(const LayoutsByShape& gathered) {
    const Shape& shape = call_.results[0].shape;
    sum_ = plan_.results[0];
    const uint32_t owed = std::exchange(sum_->partial, 0);
    const Layout* like = work_.pin ? &*work_.pin : gathered.find(shape);
    if (like == nullptr) return;
    for (const AxisCut& cut : like->cuts) {
      if ((owed >> cut.axis & 1) == 0) continue;
      (void)cluster_.try_cut(*sum_, cut, shape);
    }
  }

  // Finds out whether the operand is gathered. Returns false if it must move in
  // another way: it is summands, or lives on other ranks.
  bool find_moves() {
    const ShardValuePtr& value = work_.value(kOperand);
    const Layout& wanted = plan_.arguments[kOperand];
    source_ = value->layout();
    const Way way = nearest(cluster_, machine_, call_.type(kOperand),
                            value->layouts(), wanted);
    is_gathered_ = std::any_of(way.moves.begin(), way.moves.end(),
                               [](const Move& move) { return move.bytes > 0; });
    travel_ = seconds_of(way.moves);
    return !is_gathered_ ||
           (way.from == 0 && source_.partial == 0 && source_.set == wanted.set);
  }

  void find_seconds() {
    product_ = work_seconds(cluster_, machine_, call_, plan_);
    if (!sum_) return;
    const Layout& made = plan_.results[0];
    travel_ += seconds_of(redistribution(
        cluster_, machine_,
        moved_type(call_.results[0], work_.sum_dtype, made, *sum_), made,
        *sum_));
  }

  // Returns the seconds of the product in chunks, each of which travels while
  // the one before or behind it is computed. Each chunk reads all of the weight
  // and costs a message. Chunks are split off the operand and joined to the
  // result, and so is an operand that was gathered and is kept.
  double seconds(const Chunking& in) const {
    const auto count = static_cast<double>(in.count);
    double copied =
        cluster_.piece_bytes(source_, call_.type(kOperand)) +
        cluster_.piece_bytes(sum_ ? *sum_ : plan_.results[0], call_.results[0]);
    if (is_gathered_ && !work_.at.regathers) {
      copied +=
          cluster_.piece_bytes(plan_.arguments[kOperand], call_.type(kOperand));
    }
    const double weight =
        cluster_.piece_bytes(plan_.arguments[weight_], call_.type(weight_));
    const double bytes = 2 * copied + (count - 1) * weight;
    return overlapped(in) + count * machine_.latency +
           bytes / machine_.memory_bandwidth;
  }

  // Returns when the last chunk is done if nothing else takes time. A chunk
  // that is gathered travels first, and one of summands is computed first.
  double overlapped(const Chunking& in) const {
    const double first = is_gathered_ ? travel_ : product_;
    const double second = is_gathered_ ? product_ : travel_;
    double begun = 0, done = 0;
    for (const int64_t length : in.lengths()) {
      const double share = static_cast<double>(length * in.ranks) /
                           static_cast<double>(in.label.size);
      begun += first * share;
      done = std::max(done, begun) + second * share;
    }
    return done;
  }

  // Returns how many times the chunk before it a chunk is, so that one of them
  // travels in the time in which the other is computed. Where chunks travel
  // before and behind their products, no growth suits both.
  double growth() const {
    if (is_gathered_ && sum_) return 1;
    const double ratio = product_ / travel_;
    return std::clamp(is_gathered_ ? ratio : 1 / ratio, 1 / kGrowth, kGrowth);
  }

  // Returns the chunks along the label, or nothing if there cannot be two.
  std::optional<Chunking> along(const Label& label, int64_t wanted) const {
    const LabelDim& result = label.results[0];
    if (!result.is_there() || label.needs_split || label.is_looked_up ||
        label.is_summed || !label.extreme.empty() ||
        label.arguments[weight_].is_there()) {
      return std::nullopt;
    }
    const LabelDim& operand = label.arguments[kOperand];
    if (!operand.is_there() || operand.unit != 1 || result.unit != 1) {
      return std::nullopt;
    }
    Chunking out{label, 1, 1, is_gathered_, sum_};
    const std::set<uint32_t> axes = axes_that_cut(label);
    if (axes.size() > 1) return std::nullopt;
    if (!axes.empty()) {
      if (!can_view(label)) return std::nullopt;
      out.ranks = cluster_.count(work_.set, *axes.begin());
      if (label.size % out.ranks != 0) return std::nullopt;
    }
    const int64_t most = label.size / out.ranks;
    out.count = std::min(wanted, most);
    if (wanted == kChunksByCost) {
      out.growth = growth();
      out.count = cheapest(out, most);
    }
    return out.count < 2 ? std::nullopt : std::optional(out);
  }

  // Returns the least number of chunks that takes about the least time: more of
  // them hide little more, and each has messages and lines of its own.
  int64_t cheapest(Chunking in, int64_t most) const {
    most = std::min(most, kMostByCost);
    double least = 0;
    for (in.count = 2; in.count <= most; ++in.count) {
      if (in.count == 2 || seconds(in) < least) least = seconds(in);
    }
    for (in.count = 2; in.count < most; ++in.count) {
      if (seconds(in) <= kNear * least) break;
    }
    return std::min(in.count, most);
  }

  // Returns the axes that cut the label's dimension in some tensor, before the
  // line or behind it.
  std::set<uint32_t> axes_that_cut(const Label& label) const {
    std::set<uint32_t> axes;
    const auto add = [&](const Layout& layout, const LabelDim& place) {
      for (const AxisCut& cut : layout.cuts) {
        if (cut.dim == place.dim) axes.insert(cut.axis);
      }
    };
    add(source_, label.arguments[kOperand]);
    add(plan_.arguments[kOperand], label.arguments[kOperand]);
    add(plan_.results[0], label.results[0]);
    if (work_.pin) add(*work_.pin, label.results[0]);
    if (sum_) add(*sum_, label.results[0]);
    return axes;
  }

  // Returns true if the label's dimension can be viewed as two, of which the
  // first repeats the matrix product. All parts must have one size in each
  // layout, which a cut in units may not give.
  bool can_view(const Label& label) const {
    const Shape& weight = call_.type(weight_).shape;
    const LabelDim& result = label.results[0];
    const LabelDim& operand = label.arguments[kOperand];
    const auto is_row = [&](const Shape& shape) {
      return static_cast<size_t>(result.dim) + 1 < shape.size() &&
             shape.size() < Shape::kMaxRank;
    };
    const auto is_even = [&](const Layout& layout) {
      return cluster_.is_even(layout, result.dim, label.size);
    };
    return weight.size() == 2 && operand.dim == result.dim &&
           is_row(call_.results[0].shape) &&
           is_row(call_.type(kOperand).shape) && is_even(source_) &&
           (!work_.pin || is_even(*work_.pin)) && (!sum_ || is_even(*sum_));
  }

  // Returns true if `a` takes less time, where the number of chunks is chosen
  // by cost; else if it has more chunks, or as many without a view.
  bool is_better(const Chunking& a, const Chunking& b, int64_t wanted) const {
    if (wanted == kChunksByCost) return seconds(a) < seconds(b);
    return a.count != b.count ? a.count > b.count : a.ranks < b.ranks;
  }

  const Cluster& cluster_;
  const Machine& machine_;
  const LineWork& work_;
  const Call& call_;
  const Plan& plan_;
  const size_t weight_;  // the argument
  Layout source_;        // the operand's own layout
  bool is_gathered_ = false;
  std::optional<Layout> sum_;
  double product_ = 0;  // seconds of the whole product
  double travel_ = 0;   // seconds of what is gathered and summed
};

}  // namespace

std::vector<int64_t> Chunking::lengths() const {
  const int64_t size = label.size / ranks;
  std::vector<int64_t> out;
  if (growth == 1) {
    for (int64_t i = 0; i < count; ++i) {
      out.push_back(size / count + (i < size % count ? 1 : 0));
    }
    return out;
  }
  const double all = std::pow(growth, count) - 1;
  int64_t begin = 0;
  for (int64_t i = 1; i <= count; ++i) {
    const double share = (std::pow(growth, i) - 1) / all;
    const int64_t end =
        std::clamp<int64_t>(std::llround(share * static_cast<double>(size)),
                            begin + 1, size - (count - i));
    out.push_back(end - begin);
    begin = end;
  }
  return out;
}

Shape Chunking::viewed(const Shape& shape, const LabelDim& place) const {
  if (ranks == 1) return shape;
  Shape out = shape;
  out[static_cast<size_t>(place.dim)] /= ranks;
  out.insert(static_cast<size_t>(place.dim), ranks);
  return out;
}

int32_t Chunking::axis(const LabelDim& place) const {
  return place.dim + (ranks == 1 ? 0 : 1);
}

std::string Chunking::split_text(const std::vector<std::string>& chunks,
                                 const std::string& operand) const {
  std::string out;
  for (const std::string& chunk : chunks) out += chunk + " ";
  out += "= split " + operand +
         " axis=" + std::to_string(axis(label.arguments[kOperand]));
  const std::vector<int64_t> sizes = lengths();
  if (sizes.front() != sizes.back()) out += " sizes=" + list_text(sizes);
  return out;
}

// In the first of the two dimensions of a view, each rank has one index.
Layout Chunking::of_chunk(const Layout& whole, const LabelDim& place) const {
  Layout out = whole;
  if (ranks == 1) return out;
  for (AxisCut& cut : out.cuts) {
    if (cut.dim == place.dim) cut.unit = 1;
    if (cut.dim > place.dim) ++cut.dim;
  }
  return out;
}

Layout Chunking::of_whole(const Layout& chunk, const LabelDim& place) const {
  Layout out = chunk;
  for (AxisCut& cut : out.cuts) {
    if (ranks > 1 && cut.dim > place.dim) --cut.dim;
  }
  return out;
}

Plan Chunking::of_chunk(const Plan& whole) const {
  Plan out = whole;
  out.arguments[kOperand] =
      of_chunk(whole.arguments[kOperand], label.arguments[kOperand]);
  out.results[0] = of_chunk(whole.results[0], label.results[0]);
  return out;
}

Result<Chunking> choose_chunks(const Cluster& cluster, const Machine& machine,
                               const LayoutsByShape& gathered,
                               const LineWork& work, int64_t wanted) {
  return ChunkSearch(cluster, machine, gathered, work).run(wanted);
}

}  // namespace gt::shard
