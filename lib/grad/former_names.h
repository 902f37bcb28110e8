// The names of values behind a value (name_set.h).
#pragma once

#include "grad/cells.h"

namespace gt::grad {

// Adds, unordered, the user's names that hold the value or held it, as far as
// HistoryCells::name() and gone() tell.
void add_own_names(const HistoryCells& cells, ValueId id, NameSet& names);
// Adds, unordered, all names of the values behind the value, if its history was
// lost.
void add_names_behind(const HistoryCells& cells, ValueId id, NameSet& names);

}  // namespace gt::grad
