#include "emit/usage.h"

#include <string>
#include <vector>

#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/operands.h"
#include "ops/table.h"
#include "program/costs.h"
#include "spmd/labels.h"

namespace gt::emit {
namespace {

// Returns the cost on the first rank, times the number of ranks.
uint64_t cost_on_ranks(const Operands& operands, const LineState& state) {
  const auto ranks = static_cast<double>(state.where.ranks.size());
  uint64_t moved = 0;
  std::vector<const Type*> types;
  for (size_t o = 0; o < state.line.operands.size(); ++o) {
    const Ranks& on = state.where.operands[o];
    types.push_back(on.empty() ? nullptr
                               : operands.piece_type(state, o, on[0]));
    if (types.back() != nullptr) moved += types.back()->bytes();
  }
  const uint64_t crossing =
      static_cast<uint64_t>(ranks) * (copy_cost(moved) - kCopyCost / 2);
  if (crosses_ranks(state.line, state.where)) return crossing;
  const auto grid = grid_of(state.line, state.mesh, state.where.ranks);
  if (!grid.ok()) return crossing;
  const auto plan = local_plan(state.line, grid.value());
  Call call;
  if (!plan.ok() ||
      !bind_local(plan.value(), plan.value().variant_of[0], types, call).ok()) {
    return crossing;
  }
  return line_cost(call, ranks);
}

}  // namespace

bool has_room_for(const Ledger& ledger, std::string_view name) {
  const Usage& usage = ledger.usage;
  const SymbolId id = ledger.symbols.find(name);
  if (!usage.counts || (id != kNoSymbol && ledger.symbols[id].is_live())) {
    return true;
  }
  const uint64_t names = usage.names + 1;
  const uint64_t lines = ledger.tape.node_count();
  return names <= usage.quota.names &&
         bytes_in_all(usage.bytes, names, lines) <= usage.quota.bytes;
}

Status count_usage(Ledger& ledger, const Operands& operands, LineState& state) {
  Usage& usage = ledger.usage;
  state.cost = is_placed(state.line) ? cost_on_ranks(operands, state)
                                     : line_cost(state.call);
  for (const TypeId type : state.result_types) {
    state.bytes += ledger.bytes_of(type);
  }
  uint64_t bytes_back = 0, names_back = 0;  // of what the line replaces
  for (const Name& result : state.line.results) {
    const SymbolId id =
        ledger.symbols.find(full_name(result.text, result.ranks));
    if (id == kNoSymbol) continue;
    bytes_back += ledger.symbols[id].bytes;
    ++names_back;
  }
  const Quota& quota = usage.quota;
  const uint64_t bytes = usage.bytes - bytes_back + state.bytes;
  const uint64_t names = usage.names - names_back + state.line.results.size();
  const std::string head = std::string(state.line.op) + ": with it your names ";
  const std::string end = "; free what is not needed any more";
  if (bytes > quota.bytes && bytes > usage.bytes) {
    return Error{head + "would hold " + std::to_string(bytes) + " bytes, and " +
                     std::to_string(quota.bytes) + " is the quota" + end,
                 state.line.op_column};
  }
  const uint64_t lines = ledger.tape.node_count();
  const uint64_t all = bytes_in_all(bytes, names, lines + 1);
  if (all > quota.bytes &&
      all > bytes_in_all(usage.bytes, usage.names, lines)) {
    return Error{head + "would hold " + std::to_string(bytes) +
                     " bytes, which with " + std::to_string(names) +
                     " names and " + std::to_string(lines) +
                     " lines of history are " + std::to_string(all) + ", and " +
                     std::to_string(quota.bytes) + " is the quota" + end +
                     ", and detach what needs no gradient",
                 state.line.op_column};
  }
  if (names > quota.names && names > usage.names) {
    return Error{head + "would be " + std::to_string(names) + ", and " +
                     std::to_string(quota.names) + " is the quota" + end,
                 state.line.op_column};
  }
  if (statement_of(state.line.op) == Statement::kPrint) {
    state.cost += print_cost(state.call.arguments[0].type.elements());
  }
  usage.cost += state.cost;
  return ok_status();
}

}  // namespace gt::emit
