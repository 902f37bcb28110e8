#include "program/piece_types.h"

#include "ops/table.h"

namespace gt {
namespace {

using PieceTypes = std::vector<std::vector<Type>>;

// Infers a line that each rank runs by itself.
Result<PieceTypes> infer_locally(const Line& line, const LineRanks& where,
                                 const Mesh* mesh, const PieceType& types,
                                 const CallVisitor& visit) {
  const auto grid = grid_of(line, mesh, where.ranks);
  if (!grid.ok()) return grid.error();
  const auto plan = local_plan(line, grid.value());
  if (!plan.ok()) return plan.error();
  PieceTypes made(line.results.size());
  std::vector<const Type*> operands;
  Call call;
  for (size_t i = 0; i < where.ranks.size(); ++i) {
    operands.clear();
    for (size_t o = 0; o < line.operands.size(); ++o) {
      operands.push_back(where.operands[o].empty() ? nullptr
                                                   : types(o, where.ranks[i]));
    }
    const Status s =
        bind_local(plan.value(), plan.value().variant_of[i], operands, call);
    if (!s.ok()) return s.error();
    if (visit) visit(call);
    for (size_t r = 0; r < made.size(); ++r) made[r].push_back(call.results[r]);
  }
  return made;
}

}  // namespace

Result<PieceTypes> piece_types(const Line& line, const LineRanks& where,
                               const Mesh* mesh, const PieceType& types,
                               const CallVisitor& visit) {
  if (is_output(statement_of(line.op))) return PieceTypes();
  if (!crosses_ranks(line, where)) {
    return infer_locally(line, where, mesh, types, visit);
  }
  return infer_placed(line, where, mesh, types);
}

}  // namespace gt
