#include "grad/former_names.h"

namespace gt::grad {

void add_own_names(const HistoryCells& cells, ValueId id, NameSet& names) {
  const SymbolId name = cells.name(id);
  if (name != kNil && !cells.is_internal(id)) {
    names.names.push_back({name, cells.name_since(name)});
  }
  const Lost lost = cells.gone(id);
  if (lost.kind == Lost::Kind::kNot || lost.name == kNil) return;
  const uint64_t since = cells.name_since(lost.name);
  if (since <= lost.serial) {
    names.names.push_back({lost.name, since});
  } else {
    names.is_unknown = true;  // the symbol stands for another name by now
  }
}

void add_names_behind(const HistoryCells& cells, ValueId id, NameSet& names) {
  if (const NameSets::Ref& former = cells.former_names(id)) names.add(**former);
  cells.consumed_targets(id).add_names(names);
}

}  // namespace gt::grad
