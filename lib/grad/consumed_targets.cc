#include "grad/consumed_targets.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "grad/cells.h"
#include "grad/former_names.h"

namespace gt::grad {

namespace {

constexpr size_t kMaxWords = size_t{1} << 20;

// Makes the table of a history that is about to be consumed.
class TableMaker {
 public:
  TableMaker(const HistoryCells& tape, std::span<const NodeId> nodes)
      : tape_(tape), nodes_(nodes) {
    for (size_t i = 0; i < nodes.size(); ++i) rows_[nodes[i]] = i;
  }

  // Returns false if the table would be large.
  bool add_targets() {
    std::vector<uint64_t>& serials = table_.serials;
    for (const NodeId node : nodes_) {
      bool is_large = false;
      tape_.each_operand(node, [&](ValueId id) {
        if (tape_.is_target(id)) serials.push_back(tape_.serial(id));
        const ConsumedTargets& behind = tape_.consumed_targets(id);
        if (!behind.table || is_large) return;
        const std::vector<uint64_t>& more = behind.table->serials;
        is_large = serials.size() + more.size() > kMaxWords;
        if (!is_large) serials.insert(serials.end(), more.begin(), more.end());
      });
      if (is_large) return false;
    }
    make_unique(serials);
    if ((serials.size() / 64 + 1) * nodes_.size() > kMaxWords) return false;
    table_.targets.resize(nodes_.size(), serials.size());
    fill(table_.targets,
         [this](size_t row, ValueId id) { set_targets(row, id); });
    return true;
  }

  void add_names() {
    std::unordered_set<const void*> seen;
    NameSet all;
    for (const NodeId node : nodes_) {
      tape_.each_operand(node, [&](ValueId id) {
        if (!tape_.is_differentiable(id)) return;
        add_own_names(tape_, id, all);
        const NameSets::Ref& former = tape_.former_names(id);
        if (former && seen.insert(&*former).second) all.add(**former);
        const ConsumedTargets& behind = tape_.consumed_targets(id);
        if (behind.table && seen.insert(&*behind.table).second) {
          all.names.insert(all.names.end(), behind.table->names.begin(),
                           behind.table->names.end());
        }
      });
      if (all.names.size() > kMaxWords) return;
    }
    make_unique(all.names);
    if ((all.names.size() / 64 + 1) * nodes_.size() > kMaxWords) return;
    table_.names = std::move(all.names);
    table_.behind.resize(nodes_.size(), table_.names.size());
    fill(table_.behind, [this](size_t row, ValueId id) { set_names(row, id); });
  }

  ConsumedTable take() { return std::move(table_); }

 private:
  template <typename T>
  static void make_unique(std::vector<T>& all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }

  // Calls set_operand(row, operand) for the operands of each line, the oldest
  // line first, after the row of the operand's own line was added to the row.
  template <typename SetOperand>
  void fill(BitRows& rows, const SetOperand& set_operand) {
    for (size_t row = nodes_.size(); row-- > 0;) {
      tape_.each_operand(nodes_[row], [&](ValueId id) {
        const NodeId from = tape_.producer(id);
        if (from != kNil) rows.add_row(row, rows_.at(from));
        set_operand(row, id);
      });
    }
  }

  void set_targets(size_t row, ValueId id) {
    BitRows& targets = table_.targets;
    if (tape_.is_target(id)) {
      targets.set(row, table_.bit_of(tape_.serial(id)));
    }
    if (tape_.producer(id) != kNil || !tape_.lost(id).hides_targets()) return;
    const ConsumedTargets& behind = tape_.consumed_targets(id);
    if (!behind.table || behind.table->targets.at(behind.row, 0)) {
      targets.set(row, 0);
    }
    if (!behind.table) return;
    for (const uint64_t known : behind.table->serials) {
      if (behind.may_be(known)) targets.set(row, table_.bit_of(known));
    }
  }

  void set_names(size_t row, ValueId id) {
    if (!tape_.is_differentiable(id)) return;
    names_.names.clear();
    names_.is_unknown = false;
    add_own_names(tape_, id, names_);
    add_names_behind(tape_, id, names_);
    if (names_.is_unknown) table_.behind.set(row, 0);
    for (const NamedSince& name : names_.names) {
      const auto at = std::ranges::lower_bound(table_.names, name);
      table_.behind.set(row,
                        static_cast<size_t>(at - table_.names.begin()) + 1);
    }
  }

  const HistoryCells& tape_;
  std::span<const NodeId> nodes_;
  std::unordered_map<NodeId, size_t> rows_;
  ConsumedTable table_;
  NameSet names_;  // scratch, of one operand
};

}  // namespace

void ConsumedTargets::add_names(NameSet& set) const {
  if (!table) return;
  const BitRows& behind = table->behind;
  if (behind.words == 0 || behind.at(row, 0)) set.is_unknown = true;
  if (behind.words == 0) return;
  for (size_t i = 0; i < table->names.size(); ++i) {
    if (behind.at(row, i + 1)) set.names.push_back(table->names[i]);
  }
}

Shared<ConsumedTable> find_consumed_targets(const HistoryCells& tape,
                                            std::span<const NodeId> nodes) {
  TableMaker maker(tape, nodes);
  if (!maker.add_targets()) return {};
  maker.add_names();
  return Shared<ConsumedTable>(maker.take());
}

ConsumedTargets merge_consumed_targets(const HistoryCells& tape,
                                       std::span<const ValueId> operands) {
  const ConsumedTargets* found = nullptr;
  for (const ValueId id : operands) {
    if (id == kNil || !tape.lost(id).hides_targets()) continue;
    const ConsumedTargets& behind = tape.consumed_targets(id);
    if (!behind.table) return {};
    if (found != nullptr && !found->is_same(behind)) return {};
    found = &behind;
  }
  return found == nullptr ? ConsumedTargets{} : *found;
}

}  // namespace gt::grad
