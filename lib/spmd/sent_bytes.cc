#include "spmd/sent_bytes.h"

#include <algorithm>

#include "ops/table.h"
#include "spmd/exchange_plan.h"

namespace gt {
namespace {

// Copies to a set of the same form lead from each rank to the one at its place.
// Otherwise the first rank sends to all others.
std::vector<uint64_t> copied(const Move& move, const Cluster& cluster,
                             const Type& whole) {
  const Ranks& from = cluster.ranks(move.before.set);
  const Ranks& to = cluster.ranks(move.after.set);
  std::vector<uint64_t> sent;
  if (!cluster.has_same_form(move.before.set, move.after.set)) {
    sent.resize(from.size());
    sent[0] = whole.bytes() * without(to, {from[0]}).size();
    return sent;
  }
  const std::vector<Shape> pieces = cluster.pieces(move.before, whole);
  for (size_t i = 0; i < from.size(); ++i) {
    const Type piece{whole.dtype, pieces[pieces.size() == 1 ? 0 : i]};
    sent.push_back(from[i] == to[i] ? 0 : piece.bytes());
  }
  return sent;
}

// What a rank of a collective sends.
class Collected {
 public:
  Collected(const Move& move, const Cluster& cluster, const Type& whole)
      : op_(collective_of(move.op)),
        dtype_(whole.dtype),
        members_(cluster.members(move.before.set, move.axes)) {}

  // The rank has these pieces before and after, and this place in its group.
  uint64_t bytes(const Shape& before, const Shape& after, int64_t place) const {
    const Type piece{dtype_, before};
    if (op_ == Collective::kAllReduce) return summed(piece, place);
    if (op_ == Collective::kAllGather) return others() * piece.bytes();
    Type kept = piece;
    for (size_t d = 0; d < before.size(); ++d) {
      kept.shape[d] = std::min(before[d], after[d]);
    }
    return piece.bytes() - kept.bytes();
  }

  // True if ranks with equal pieces may send different amounts.
  bool depends_on_place(const Shape& before) const {
    const Type piece{dtype_, before};
    return op_ == Collective::kAllReduce && by_chunks(piece) &&
           piece.elements() % members_ != 0;
  }

 private:
  uint64_t others() const { return static_cast<uint64_t>(members_ - 1); }
  bool by_chunks(const Type& piece) const {
    return sums_by_chunks(piece, static_cast<size_t>(members_),
                          ExchangeOptions().direct_bytes);
  }
  // Each member sends its summands to all others, or to each the chunk that
  // this one sums; then it sends the sums of its own chunk to all.
  uint64_t summed(const Type& piece, int64_t place) const {
    if (!by_chunks(piece)) return others() * piece.bytes();
    const Type chunk{dtype_,
                     {extent_of(piece.elements(), 1, members_, place).count}};
    return piece.bytes() - chunk.bytes() + others() * chunk.bytes();
  }

  const Collective op_;
  const Dtype dtype_;
  const int64_t members_;  // of a group
};

}  // namespace

std::vector<uint64_t> sent_bytes(const Move& move, const Cluster& cluster,
                                 const Type& whole) {
  const Collective op = collective_of(move.op);
  if (op == Collective::kConvert) return {0};
  if (op == Collective::kCopy) return copied(move, cluster, whole);
  const Collected collected(move, cluster, whole);
  const std::vector<Shape> before = cluster.pieces(move.before, whole);
  const std::vector<Shape> after = cluster.pieces(move.after, whole);
  if (before.size() == 1 && after.size() == 1 &&
      !collected.depends_on_place(before[0])) {
    return {collected.bytes(before[0], after[0], 0)};
  }
  const std::vector<int64_t> places =
      cluster.places(move.before.set, move.axes);
  std::vector<uint64_t> sent;
  for (size_t i = 0; i < places.size(); ++i) {
    sent.push_back(collected.bytes(before[before.size() == 1 ? 0 : i],
                                   after[after.size() == 1 ? 0 : i],
                                   places[i]));
  }
  return sent;
}

}  // namespace gt
