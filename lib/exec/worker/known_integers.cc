#include "exec/worker/known_integers.h"

#include "exec/backend/ref/ref.h"

namespace gt::exec {

KnownIntegers::KnownIntegers(TypeIds& types, Saves& saves, bool keeps)
    : backend_(make_ref_backend({})),
      recipes_({*backend_, types, saves}, keeps),
      interpreter_(backend_->device()) {}

bool KnownIntegers::compute(const LineEntry& entry,
                            const Registers& registers) {
  const Recipe& recipe = *entry.on_host;
  const size_t count = recipe.arguments + recipe.blocks.size();
  cells_.assign(count, Cell{});
  values_.assign(count, Value{});
  pointers_.clear();
  for (size_t i = 0; i < count; ++i) {
    values_[i].data = &cells_[i];
    pointers_.push_back(&values_[i]);
    if (i >= recipe.arguments) continue;
    const LineOperand& operand = entry.operands[i];
    if (!operand.is_register) {
      values_[i].data = operand.value->data;
      continue;
    }
    const Buffer* buffer = registers[operand.id].buffer;
    if (!buffer->is_known) return false;
    cells_[i][0] = buffer->known;
  }
  bool is_well = true;
  interpreter_.run(recipe, pointers_, [&is_well](const Error& /*error*/) {
    is_well = false;
    return std::make_shared<const std::string>();
  });
  for (Value& value : values_) interpreter_.clear(value);
  return is_well;
}

void KnownIntegers::note(const LineEntry& entry,
                         const Registers& registers) const {
  const std::vector<RecipeResult>& results = entry.on_host->results;
  for (size_t r = 0; r < results.size(); ++r) {
    const auto* from = static_cast<const Cell*>(
        values_[static_cast<size_t>(results[r].value)].data);
    Buffer* buffer = registers[entry.results[r].id].buffer;
    buffer->is_known = true;
    buffer->known = (*from)[0];
  }
}

}  // namespace gt::exec
