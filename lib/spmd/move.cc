#include "spmd/move.h"

#include "ops/shape_rules.h"
#include "ops/table.h"

namespace gt {
namespace {

// Returns the layout that the move cuts, if a dimension is not cut evenly where
// split= must say so; else null.
const Layout* uneven_side(const Move& move, const Cluster& cluster,
                          const Shape& whole) {
  const Layout& cut = move.dst.letter == 'S' ? move.after : move.before;
  const auto uneven = [&](const Layout& layout, const End& end) {
    return end.letter == 'S' &&
           !cluster.is_even(layout, static_cast<int32_t>(end.dim),
                            whole[static_cast<size_t>(end.dim)]);
  };
  const bool exchanges = move.src.letter == 'S' && move.dst.letter == 'S';
  const bool any = uneven(cut, move.src) || uneven(cut, move.dst) ||
                   (exchanges && (uneven(move.before, move.src) ||
                                  uneven(move.before, move.dst)));
  return any ? &cut : nullptr;
}

std::string text_of(const End& end) {
  std::string text(1, end.letter);
  if (end.letter == 'S') text += std::to_string(end.dim);
  return text;
}

}  // namespace

double seconds_of(const std::vector<Move>& moves) {
  double sum = 0;
  for (const Move& move : moves) sum += move.seconds;
  return sum;
}

MoveKeys move_keys(const Move& move, const Cluster& cluster,
                   const Shape& whole) {
  std::string over;
  for (size_t a = 0; a < cluster.axes(); ++a) {
    if ((move.axes & uint32_t{1} << a) == 0) continue;
    over += (over.empty() ? "" : "+") + cluster.axis_name(a);
  }
  if (over.empty()) return {};
  MoveKeys keys{{"over", std::move(over)}};
  if (!move.combine.empty()) keys.emplace_back("op", move.combine);
  // Sums take P and give R to all, unless their keys say otherwise.
  const Collective op = collective_of(move.op);
  const bool sums =
      op == Collective::kAllReduce || op == Collective::kReduceScatter;
  if (!sums || move.src.letter != 'P') {
    keys.emplace_back("src", text_of(move.src));
  }
  if (!sums || move.dst.letter != 'R') {
    keys.emplace_back("dst", text_of(move.dst));
  }
  if (use_of_ends(*find_op(move.op), move.src, move.dst, whole.size()) ==
      EndsUse::kGated) {
    keys.emplace_back("expert", "1");
  }
  if (const Layout* cut = uneven_side(move, cluster, whole)) {
    keys.emplace_back("split", cluster.split_text(*cut));
    keys.emplace_back("shape", list_text(whole));
  }
  return keys;
}

std::string keys_of(const Move& move, const Cluster& cluster,
                    const Shape& whole) {
  std::string text;
  for (const auto& [key, value] : move_keys(move, cluster, whole)) {
    text.append(" ").append(key).append("=").append(value);
  }
  return text;
}

std::string source_ranks(const Move& move, const Cluster& cluster) {
  const uint32_t from = move.before.set;
  return cluster.has_same_form(from, move.after.set)
             ? cluster.ranks_text(from)
             : std::to_string(cluster.ranks(from)[0]);
}

}  // namespace gt
