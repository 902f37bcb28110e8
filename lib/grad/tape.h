// The history of live values: what reverse mode walks back.
//
// A Value is what one instruction defined. A Node is an instruction that can be
// differentiated. The tape keeps exactly what a later `grad` could use:
//   - a node is kept while something live follows from it (a held value, or a
//     kept node that reads its results), and
//   - while it can reach a target: a value that a user's name holds.
// Both are reference counts, so upkeep is constant time a line and what loops
// leave behind goes by itself.
//
// Whoever names values holds them: a user's name or one of our own (internal).
// Internal names are no targets; when nobody needs the data of an internally
// held value any more it turns up in idle(), and the holder frees it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/origin.h"
#include "base/shared.h"
#include "base/slab.h"
#include "base/small_vector.h"
#include "grad/hidden.h"
#include "grad/type_ids.h"
#include "ops/op.h"

namespace gt {

using ValueId = uint32_t;
using NodeId = uint32_t;
using SymbolId = uint32_t;
inline constexpr uint32_t kNil = UINT32_MAX;

// Why the history behind a value is not there.
struct Lost {
  enum class Kind : uint8_t { kNot, kConsumed, kForgotten, kRebound };
  Origin at;  // the grad, the line that went over the limit, the rebind
  // Of kRebound: the name that was bound again or freed, if it still has it.
  SymbolId name = kNil;
  uint16_t generation = 0;
  Kind kind = Kind::kNot;
  // A history that ended because its names were bound again did not lead to a
  // target: a value that a name holds keeps what follows from it.
  bool hides_targets() const {
    return kind == Kind::kConsumed || kind == Kind::kForgotten;
  }
};

struct Use {
  NodeId node;
  uint32_t slot;
};

struct Value {
  TypeId type = 0;
  SymbolId name = kNil;
  // Our own name beside the user's, which holds the data on some ranks only.
  SymbolId alias = kNil;
  NodeId producer = kNil;
  uint32_t reads = 0;           // nodes whose gradient reads the data
  uint32_t pending = 0;         // lines yet to be written that read it
  bool differentiable = false;  // holds floats
  bool internal = false;        // held by one of our own names
  bool alive = false;           // the slot is in use
  bool fresh = false;           // not held yet, and kept until it is
  bool listed = false;          // stands in idle_
  bool unwanted = false;        // counts no more among its node's results
  uint64_t serial = 0;
  Origin origin;
  Lost lost;
  Lost gone;      // the user's name it had, and where that was bound again
  Hidden hidden;  // by a lost history: the targets behind
  SmallVector<Use, 2> uses;
};

// An instruction without its names, "r = matmul x x ta=1", and the notes that
// its gradient lines carry. Many nodes share one.
struct NodeText {
  std::string line;
  std::string shown;  // with its names, for people; may be ""
  std::string notes;  // " #signal=... #mb=..."
  MeshId mesh = 0;    // of a placed line
};

// The pseudo-op of a value whose pieces several values hold: "r@0-3 = pieces
// x@0-1 x@2-3" on the tape, nothing in the stream.
const Op& pieces_op();

struct Node {
  const Op* op = nullptr;
  Shared<NodeText> text;
  uint64_t serial = 0;
  Origin origin;
  NodeId older = kNil;
  NodeId newer = kNil;
  uint32_t live_inputs = 0;
  uint32_t live_results = 0;

  // By the line's operands; kNil where there is no tensor.
  std::span<ValueId> operands() { return part(0, operand_count_); }
  std::span<const ValueId> operands() const { return part(0, operand_count_); }
  // Where each operand's Use stands in Value::uses.
  std::span<uint32_t> positions() {
    return part(operand_count_, operand_count_);
  }
  std::span<ValueId> results() {
    return part(2 * operand_count_, result_count_);
  }
  std::span<const ValueId> results() const {
    return part(2 * operand_count_, result_count_);
  }
  // Values whose data the gradient lines read.
  std::span<const ValueId> needed() const {
    const uint32_t before = 2 * operand_count_ + result_count_;
    return part(before, slots_.size() - before);
  }

  void assign(std::span<const ValueId> operands,
              std::span<const ValueId> results);
  void add_needed(ValueId value) { slots_.push_back(value); }

 private:
  std::span<uint32_t> part(uint32_t first, uint32_t count) {
    return {slots_.data() + first, count};
  }
  std::span<const uint32_t> part(uint32_t first, uint32_t count) const {
    return {slots_.data() + first, count};
  }

  // Operands, positions, results, needed: one array, since millions are kept.
  SmallVector<uint32_t, 8> slots_;
  uint32_t operand_count_ = 0;
  uint32_t result_count_ = 0;
};

class Tape {
 public:
  // A value without history. `lost` says why, if it had one.
  ValueId add_leaf(TypeId type, bool differentiable, Origin origin);

  // Records an instruction; results get their values in `results`. The needed
  // ones are those whose data the gradient will read. Without a live input
  // there is no node, only leaves.
  struct Recorded {
    const Op* op;
    Shared<NodeText> text;
    std::span<const ValueId> operands;
    std::span<const TypeId> result_types;
    std::span<const uint8_t> result_differentiable;
    std::span<const uint32_t> needed_operands;  // indices
    std::span<const uint32_t> needed_results;
    Origin origin;
  };
  void record(const Recorded& line, std::vector<ValueId>& results);

  // Names. A value has at most one holder.
  void hold(ValueId value, SymbolId name, bool internal);
  // The holder's name is bound to something else or freed. `why` goes to the
  // histories that end by it.
  void let_go(ValueId value, const Lost& why);
  // The user's name means it on fewer ranks from here, under another symbol.
  void rename(ValueId value, SymbolId name) { values_[value].name = name; }
  // A name of ours holds the data beside the user's name, until it is idle.
  void hold_alias(ValueId value, SymbolId name) { values_[value].alias = name; }
  void drop_alias(ValueId value) { values_[value].alias = kNil; }
  // A value that no name is going to hold.
  void let_be(ValueId value);

  // Pending lines that read the data.
  void add_read(ValueId value) { ++values_[value].pending; }
  void drop_read(ValueId value);

  // Forgets nodes: `grad` consumed them (all of a history, newest first), or
  // the history is too long.
  void consume(std::span<const NodeId> nodes, const Lost& why);
  void forget(NodeId node, const Lost& why);
  NodeId oldest() const { return oldest_; }
  size_t node_count() const { return node_count_; }

  // Values that a name of ours holds and whose data nobody needs any more,
  // since the last call; one may stand there twice.
  std::vector<ValueId> take_idle();

  const Value& value(ValueId id) const { return values_[id]; }
  Value& mutable_value(ValueId id) { return values_[id]; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  Node& mutable_node(NodeId id) { return nodes_[id]; }
  // Ids of values are below this.
  size_t value_limit() const { return values_.size(); }
  NodeId newest() const { return newest_; }

  // A value that a later grad could have as a target, or go through.
  bool reachable(ValueId id) const {
    const Value& v = values_[id];
    return v.differentiable &&
           ((v.name != kNil && !v.internal) || v.producer != kNil);
  }

 private:
  ValueId new_value();
  NodeId new_node();
  void link(NodeId node);
  void unlink(NodeId node);
  void remove(NodeId node, const Lost* why);
  Shared<HiddenTable> find_hidden(std::span<const NodeId> nodes) const;
  Hidden merge_hidden(std::span<const ValueId> operands) const;
  void detach_operand(NodeId node, uint32_t slot);
  void settle();
  void consider(ValueId value);

  Slab<Value> values_;
  std::vector<ValueId> free_values_;
  Slab<Node> nodes_;
  std::vector<NodeId> free_nodes_;
  NodeId oldest_ = kNil;
  NodeId newest_ = kNil;
  size_t node_count_ = 0;
  uint64_t next_serial_ = 1;
  std::vector<ValueId> idle_;
  // Work that a change left to do; settle() does it.
  struct Unreached {
    ValueId value;
    Lost why;
  };
  std::vector<Unreached> unreached_;
  std::vector<ValueId> maybe_dead_;
};

}  // namespace gt
