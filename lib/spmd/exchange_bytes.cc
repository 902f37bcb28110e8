#include "spmd/exchange_bytes.h"

#include <algorithm>

#include "ops/table.h"
#include "spmd/exchange_plan.h"

namespace gt {
namespace {

using Kind = GroupForm::Kind;

// A rank of a group, as far as its bytes depend on it.
struct Member {
  Kind kind = Kind::kSame;
  uint64_t others = 0;   // how many members there are besides it
  uint64_t piece = 0;    // the bytes of its piece
  uint64_t kept = 0;     // of these, the bytes that it needs itself
  uint64_t whole = 0;    // the bytes of all that it puts together
  bool is_root = false;  // of a broadcast or a reduce
};

// Returns what a member receives and sends where there is one step.
StepBytes one_step(const Member& of) {
  const uint64_t to_all = of.others * of.piece;
  switch (of.kind) {
    case Kind::kSum:
      return {to_all, to_all};
    case Kind::kGather:
      return {of.whole - of.piece, to_all};
    case Kind::kSumScatter:
      return {of.others * of.kept, of.piece - of.kept};
    case Kind::kExchange:
      return {of.whole - of.kept, of.piece - of.kept};
    case Kind::kRoot:
      return of.is_root ? StepBytes{0, to_all} : StepBytes{of.piece, 0};
    case Kind::kReduce:
      return of.is_root ? StepBytes{to_all, 0} : StepBytes{0, of.piece};
    default:
      return {};
  }
}

// The sums of pieces over so many members, all of which get them.
struct Sum {
  Type piece;
  int64_t members = 1;
  Dtype out;  // of the result

  bool by_chunks() const {
    return sums_by_chunks(piece, static_cast<size_t>(members),
                          ExchangeOptions().direct_bytes);
  }
  // The member at this place sends its summands to all others; or to each the
  // chunk that this one sums, and then the sums of its own chunk to all.
  ExchangeBytes bytes(int64_t place) const {
    const auto others = static_cast<uint64_t>(members - 1);
    if (!by_chunks()) {
      return {one_step({Kind::kSum, others, piece.bytes()}), StepBytes{}};
    }
    const Shape chunk{extent_of(piece.elements(), 1, members, place).count};
    const uint64_t summed = Type{out, chunk}.bytes();
    return {one_step({Kind::kSumScatter, others, piece.bytes(),
                      Type{piece.dtype, chunk}.bytes()}),
            one_step({Kind::kGather, others, summed, summed,
                      Type{out, {piece.elements()}}.bytes()})};
  }
};

double exchange_seconds(const ExchangeBytes& bytes, const Link& link) {
  double seconds = 0;
  for (const StepBytes& step : bytes) {
    if (step.in == 0) continue;
    seconds += message_seconds(link, static_cast<double>(step.in));
  }
  return seconds;
}

uint64_t received(const ExchangeBytes& bytes) {
  return bytes[0].in + bytes[1].in;
}

// ---- groups of a line -------------------------------------------------------

// Finds what the members of a group keep and put together.
class Group {
 public:
  explicit Group(const Crossing& group) : group_(group) {
    for (size_t i = 0; i < group.pieces.size(); ++i) {
      all_ += group.pieces[i].bytes();
      rows_.push_back(row_bytes(group.pieces[i]));
    }
  }

  ExchangeBytes bytes(size_t target) const {
    const GroupForm& form = group_.form;
    const Type& first = group_.pieces[0];
    if (form.kind == Kind::kSum) {
      return Sum{first, std::ssize(group_.pieces), form.result(first.dtype)}
          .bytes(static_cast<int64_t>(target));
    }
    // A copy's sources may be other ranks than its targets.
    const size_t from = form.kind == Kind::kRoot ? form.root : target;
    const int64_t source = group_.sources[from];
    if (form.kind == Kind::kSame) {
      const bool is_there = source == group_.targets[target];
      return {StepBytes{is_there ? 0 : group_.pieces[target].bytes(), 0}};
    }
    Member member{form.kind, group_.targets.size() - 1,
                  group_.pieces[from].bytes()};
    member.is_root = form.kind == Kind::kReduce
                         ? target == form.root
                         : source == group_.targets[target];
    if (form.kind == Kind::kGather) member.whole = all_;
    if (form.kind == Kind::kSumScatter) member.kept = part(target, target);
    if (form.kind == Kind::kExchange) {
      member.kept = part(target, target);
      for (size_t s = 0; s < rows_.size(); ++s) member.whole += part(s, target);
    }
    return {one_step(member)};
  }

 private:
  // Returns the bytes of one index of the dimension that the form cuts.
  uint64_t row_bytes(const Type& piece) const {
    uint64_t bytes = size_of(piece.dtype);
    for (size_t d = 0; d < piece.shape.size(); ++d) {
      if (d != group_.form.dim) bytes *= static_cast<uint64_t>(piece.shape[d]);
    }
    return bytes;
  }
  // Returns the bytes of the source's piece that are for the target.
  uint64_t part(size_t source, size_t target) const {
    const GroupForm& form = group_.form;
    const auto& at = form.row_cuts.empty() ? form.cuts : form.row_cuts[source];
    return rows_[source] * static_cast<uint64_t>(at[target + 1] - at[target]);
  }

  const Crossing& group_;
  std::vector<uint64_t> rows_;  // row_bytes(), by source
  uint64_t all_ = 0;            // the bytes of all pieces
};

// ---- moves ------------------------------------------------------------------

// What the ranks of a move by a collective receive and send.
class Collected {
 public:
  Collected(const Move& move, const Cluster& cluster, Dtype dtype)
      : op_(collective_of(move.op)),
        dtype_(dtype),
        members_(cluster.members(move.before.set, move.axes)) {}

  // The rank has these pieces before and after, and this place in its group.
  ExchangeBytes bytes(const Shape& before, const Shape& after,
                      int64_t place) const {
    const Type piece{dtype_, before};
    if (op_ == Collective::kAllReduce) return sum(piece).bytes(place);
    Type kept = piece;
    for (size_t d = 0; d < before.size(); ++d) {
      kept.shape[d] = std::min(before[d], after[d]);
    }
    const Kind kind = op_ == Collective::kAllGather       ? Kind::kGather
                      : op_ == Collective::kReduceScatter ? Kind::kSumScatter
                                                          : Kind::kExchange;
    return {one_step({kind, static_cast<uint64_t>(members_ - 1), piece.bytes(),
                      kept.bytes(), Type{dtype_, after}.bytes()})};
  }

  // True if ranks with equal pieces may send different amounts.
  bool depends_on_place(const Shape& before) const {
    const Type piece{dtype_, before};
    return op_ == Collective::kAllReduce && sum(piece).by_chunks() &&
           piece.elements() % members_ != 0;
  }

 private:
  Sum sum(const Type& piece) const { return {piece, members_, dtype_}; }

  const Collective op_;
  const Dtype dtype_;
  const int64_t members_;  // of a group
};

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

// Returns what the rank receives that receives most: one with the largest part
// after the move, or if parts are gathered, with the smallest before.
ExchangeBytes most_bytes(const Move& move, const Cluster& cluster,
                         const Type& whole) {
  const Collective op = collective_of(move.op);
  const Shape before =
      cluster.piece(move.before, whole.shape, op == Collective::kAllGather);
  if (op == Collective::kCopy) {
    return {StepBytes{Type{whole.dtype, before}.bytes(), 0}};
  }
  const Shape after = cluster.piece(move.after, whole.shape, false);
  return Collected(move, cluster, whole.dtype).bytes(before, after, 0);
}

}  // namespace

std::vector<ExchangeBytes> exchange_bytes(const Crossing& group) {
  const Group members(group);
  std::vector<ExchangeBytes> bytes;
  for (size_t t = 0; t < group.targets.size(); ++t) {
    bytes.push_back(members.bytes(t));
  }
  return bytes;
}

double exchange_seconds(const Crossing& group, const Machine& machine) {
  ExchangeBytes most{};
  for (const ExchangeBytes& bytes : exchange_bytes(group)) {
    for (size_t s = 0; s < most.size(); ++s) {
      most[s].in = std::max(most[s].in, bytes[s].in);
    }
  }
  const bool is_copy = group.sources != group.targets;
  const Ranks first{group.sources[0]};
  return exchange_seconds(most, link_of(machine, [&](int64_t n) {
                            return is_within(is_copy ? group.sources : first,
                                             group.targets, n);
                          }));
}

std::vector<uint64_t> sent_bytes(const Move& move, const Cluster& cluster,
                                 const Type& whole) {
  const Collective op = collective_of(move.op);
  if (op == Collective::kConvert) return {0};
  if (op == Collective::kCopy) return copied(move, cluster, whole);
  const Collected collected(move, cluster, whole.dtype);
  const auto sent_by = [&](const Shape& before, const Shape& after,
                           int64_t place) {
    const ExchangeBytes bytes = collected.bytes(before, after, place);
    return bytes[0].out + bytes[1].out;
  };
  const std::vector<Shape> before = cluster.pieces(move.before, whole);
  const std::vector<Shape> after = cluster.pieces(move.after, whole);
  if (before.size() == 1 && after.size() == 1 &&
      !collected.depends_on_place(before[0])) {
    return {sent_by(before[0], after[0], 0)};
  }
  const std::vector<int64_t> places =
      cluster.places(move.before.set, move.axes);
  std::vector<uint64_t> sent;
  for (size_t i = 0; i < places.size(); ++i) {
    sent.push_back(sent_by(before[before.size() == 1 ? 0 : i],
                           after[after.size() == 1 ? 0 : i], places[i]));
  }
  return sent;
}

void set_price(Move& move, const Cluster& cluster, const Machine& machine,
               const Type& whole) {
  if (collective_of(move.op) == Collective::kConvert) {
    move.seconds = std::max(cluster.piece_bytes(move.before, whole),
                            cluster.piece_bytes(move.after, whole)) /
                   machine.memory_bandwidth;
    return;
  }
  const ExchangeBytes bytes = most_bytes(move, cluster, whole);
  const Ranks& sources = cluster.ranks(move.before.set);
  const Ranks& targets = cluster.ranks(move.after.set);
  const Link link = link_of(machine, [&](int64_t n) {
    return move.axes == 0 ? is_within(sources, targets, n)
                          : cluster.is_within(move.axes, n);
  });
  move.seconds = exchange_seconds(bytes, link);
  move.bytes = static_cast<double>(received(bytes));
}

}  // namespace gt
