#include "grad/wide_products.h"

#include "ops/table.h"

namespace gt::grad {
namespace {

using Kind = GradientOperand::Kind;

Dtype dtype_of(const ValueTypes& types, TypeId id) {
  return ValueTypes::is_placed(id) ? types.placed(id).types[0].dtype
                                   : types[id].dtype;
}

}  // namespace

void widen_products(const ValueTypes& types, GradientProgram& program) {
  std::vector<uint32_t> readers(program.handle_types.size(), 0);
  std::vector<size_t> maker(program.handle_types.size(), 0);
  for (size_t i = 0; i < program.lines.size(); ++i) {
    for (const Handle h : program.lines[i].results) maker[h] = i;
    for (const GradientOperand& o : program.lines[i].operands) {
      if (o.kind == Kind::kHandle) ++readers[o.id];
    }
  }
  for (const Handle h : program.targets) {
    if (h != kNil) ++readers[h];
  }
  const Op* const cast = find_op("cast");
  std::vector<bool> is_left_out(program.lines.size(), false);
  for (size_t i = 0; i < program.lines.size(); ++i) {
    const GradientLine& line = program.lines[i];
    if (line.op != cast || line.operands[0].kind != Kind::kHandle) continue;
    const Handle narrow = line.operands[0].id;
    const Handle wide = line.results[0];
    GradientLine& product = program.lines[maker[narrow]];
    if (readers[narrow] != 1 || !product.op->is_product() ||
        product.op->key_index("out") < 0 ||
        !is_half(dtype_of(types, program.handle_types[narrow])) ||
        dtype_of(types, program.handle_types[wide]) != Dtype::kF32 ||
        product.ranks != line.ranks || product.mesh != line.mesh ||
        !line.partial.axes.empty() || !line.type.empty()) {
      continue;
    }
    product.results[0] = wide;
    product.keys.emplace_back("out", "f32");
    is_left_out[i] = true;
  }
  size_t i = 0;
  std::erase_if(program.lines,
                [&](const GradientLine&) { return is_left_out[i++]; });
}

}  // namespace gt::grad
