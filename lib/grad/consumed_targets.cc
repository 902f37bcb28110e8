#include "grad/consumed_targets.h"

#include <unordered_map>
#include <utility>

#include "grad/cells.h"

namespace gt::grad {

Shared<ConsumedTable> find_consumed_targets(const HistoryCells& tape,
                                            std::span<const NodeId> nodes) {
  constexpr size_t kMaxWords = size_t{1} << 20;
  ConsumedTable table;
  std::unordered_map<NodeId, size_t> rows;
  bool is_large = false;
  for (size_t i = 0; i < nodes.size(); ++i) {
    rows[nodes[i]] = i;
    tape.each_operand(nodes[i], [&](ValueId id) {
      if (tape.is_target(id)) table.serials.push_back(tape.serial(id));
      if (!tape.consumed_targets(id).table || is_large) return;
      const std::vector<uint64_t>& more =
          tape.consumed_targets(id).table->serials;
      is_large = table.serials.size() + more.size() > kMaxWords;
      if (is_large) return;
      table.serials.insert(table.serials.end(), more.begin(), more.end());
    });
    if (is_large) return {};
  }
  std::sort(table.serials.begin(), table.serials.end());
  table.serials.erase(std::unique(table.serials.begin(), table.serials.end()),
                      table.serials.end());
  table.words = table.serials.size() / 64 + 1;
  if (table.words * nodes.size() > kMaxWords) return {};
  table.bits.resize(table.words * nodes.size());
  for (size_t i = nodes.size(); i > 0; --i) {
    const size_t row = i - 1;
    tape.each_operand(nodes[row], [&](ValueId id) {
      if (tape.is_target(id)) table.set(row, table.bit_of(tape.serial(id)));
      const ConsumedTargets& behind = tape.consumed_targets(id);
      if (const NodeId from = tape.producer(id); from != kNil) {
        table.add_row(row, rows.at(from));
      } else if (tape.lost(id).hides_targets() && !behind.table) {
        table.set(row, 0);
      } else if (tape.lost(id).hides_targets()) {
        if (behind.table->at(behind.row, 0)) table.set(row, 0);
        for (const uint64_t known : behind.table->serials) {
          if (behind.may_be(known)) table.set(row, table.bit_of(known));
        }
      }
    });
  }
  return Shared<ConsumedTable>(std::move(table));
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
