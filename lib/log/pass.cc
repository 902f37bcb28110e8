#include "log/pass.h"

#include <algorithm>

#include "ops/table.h"

namespace gt::log {
namespace {

bool reads_a_name(const Line& line) {
  return std::ranges::any_of(line.operands, [](const Operand& operand) {
    return operand.kind == Operand::Kind::kName;
  });
}

bool is_optimizer(std::string_view op) {
  const Op* row = find_op(op);
  return row != nullptr && row->family->name == std::string_view("optimizers");
}

}  // namespace

const char* word_of(Pass pass) {
  switch (pass) {
    case Pass::kNone:
      return "";
    case Pass::kForward:
      return "forward";
    case Pass::kBackward:
      return "backward";
    case Pass::kWeight:
      return "weight";
    case Pass::kUpdate:
      return "update";
  }
  return "";
}

Pass pass_of(const Line& line) {
  if (line.note("grad") != nullptr) return Pass::kWeight;
  if (line.note("bwd") != nullptr) return Pass::kBackward;
  if (is_optimizer(line.op)) return Pass::kUpdate;
  const bool is_forward = line.note("mb") != nullptr || reads_a_name(line);
  return is_forward ? Pass::kForward : Pass::kNone;
}

bool is_in_place(const Line& line) {
  return std::ranges::any_of(line.results, [&](const Name& name) {
    return std::ranges::any_of(line.operands, [&](const Operand& operand) {
      return operand.text == name.text;
    });
  });
}

}  // namespace gt::log
