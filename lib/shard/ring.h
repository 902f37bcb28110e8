// Attention over a sequence that is cut, as a ring: ring: in the config. Each
// rank has the queries, keys and values of a part of the sequence. Instead of
// gathering all keys and values, a rank passes those that it has to its
// neighbour while it computes with them:
//
//   _s2@1-3 = copy k@0-2
//   _s2@0 = copy k@3
//   _s0@0-3 _s1@0-3 = attention q@0-3 k@0-3 v@0-3
//   ...
//   _s4@0-3 _s5@0-3 = attention q@0-3 _s2@0-3 _s3@0-3
//
// So it holds two parts of them at a time, and what travels is hidden by what
// is computed. What a rank has found of its rows is joined to what it finds
// next by the logarithms of their weights (lse). The gradient of a part of the
// keys and values travels behind that part, and at last to the part's own rank.
//
// A causal row sees only what is before it. If ranks have consecutive parts,
// the last one computes with all of them and the first with one. So the
// sequence is cut in twice as many parts as there are ranks, and rank i has
// parts i and 2n-1-i meanwhile, which copies bring there and back. Then in each
// step all ranks compute the same: a rank whose neighbour's parts came from
// before its own reads the first of them with both of its own, the others read
// both with their second. Where parts do not divide, or copies would take
// longer than that saves, ranks keep their parts, and those before rank r
// compute nothing in step r.
//
// All lines are checked in local mode (#local): what a rank holds is a value of
// its own.
//
// Sources: H. Liu, M. Zaharia, P. Abbeel, "Ring Attention with Blockwise
// Transformers for Near-Infinite Context" (2023); for the two parts of a rank,
// the context parallelism of Megatron-LM.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shard/line_work.h"
#include "shard/local_lines.h"

namespace gt::shard {

// How a line is written as a ring.
struct Ring {
  uint32_t axis = 0;  // along which ranks have parts of the sequence
  // The line's plan, but that keys and values are read where they are, and
  // their gradients are made there.
  PlanCache::Entry planned;
};

// How a line is written as a ring, or nothing, in words for people, too: "" if
// it is no attention.
struct FoundRing {
  std::optional<Ring> ring;
  std::string how;
};

// The layouts of the line must be chosen. `others` is called for its other
// plans if the line may be a ring; it must first write operands that wait, so
// that their layouts are known.
FoundRing find_ring(
    const Cluster& cluster, const LineWork& work,
    const std::function<const std::vector<PlanCache::Entry>*()>& others);

// The ranks of a set, by their place along an axis, from 0 to size - 1.
class RankRows {
 public:
  RankRows(const Cluster& cluster, uint32_t set, uint32_t axis);
  int64_t size() const { return static_cast<int64_t>(by_place_.size()); }
  // Return the ranks at these places: for each group of ranks that differ along
  // the axis alone, those at the places in their order.
  Ranks at(const std::vector<int64_t>& places) const;
  Ranks between(int64_t begin, int64_t end) const;

 private:
  std::vector<Ranks> by_place_;  // those of a group have the same index
};

class RingWriter {
 public:
  // `line` is the line of `work` with those notes that it may have already.
  // `operands` are the registers that it reads, in the layouts of its plan.
  RingWriter(const LineWork& work, const Line& line, uint32_t axis,
             const std::vector<std::string>& operands, Cluster& cluster,
             const Machine& machine, ValueTable& values, PlacedWriter& writer);

  // Writes the lines that compute the line's results.
  void write();

 private:
  struct Held {  // what a rank has of the keys and values
    std::string k, v;
  };
  std::string in_heads(const std::string& name, int64_t heads);
  int64_t rows_dim(const std::string& name, bool is_lse) const;
  void finish(size_t r, std::string name);

  bool pays_to_balance() const;
  std::string exchange(const std::string& name, int64_t dim, bool is_back);
  std::string pass_on(const std::string& name, int64_t first, bool wraps);
  Held pass_on(const Held& held, int64_t step);
  std::vector<std::string> halves(const std::string& name, int64_t dim,
                                  const Ranks& ranks);
  void pad(const std::string& to, const std::string& half, int64_t dim,
           bool is_first, const char* value, const Ranks& ranks);
  void widen(const std::string& name);

  std::string product(const std::vector<std::string>& operands) const;
  void forward(Held held);
  void attend(const Held& held, int64_t step);
  void join(const std::string& o, const std::string& l, const Ranks& ranks);
  void backward(Held held);
  void differentiate(const Held& held, int64_t step);
  void add(size_t r, const std::string& name, const Ranks& ranks);

  const LineWork& work_;
  const Line& line_;
  const Cluster& cluster_;
  LocalLines lines_;
  uint32_t axis_;
  RankRows ranks_;
  Ranks all_;
  bool is_causal_, is_gradient_;
  bool is_balanced_ = false;
  int64_t q_heads_ = 0, k_heads_ = 0;  // of a rank; 0: the line has no heads=
  std::vector<std::string> operands_;  // given tensors, in heads
  std::vector<std::string> results_;   // so far, in heads
};

}  // namespace gt::shard
