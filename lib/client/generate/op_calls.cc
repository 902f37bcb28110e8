// Writes the ops of the table of which tests/tools/client_calls.cc makes calls
// by their rows alone, a line for each: UNARY("not", logical_not), and BINARY
// or REDUCTION.
//
// usage: gt-op-calls FILE.inc
#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

#include "client/generate/functions.h"
#include "ops/table.h"

namespace gt::client {
namespace {

bool has_key(const Op& op, std::string_view name) {
  return std::ranges::any_of(op.keys, [name](const KeyParameter& key) {
    return key.row->name == name;
  });
}

// Returns the form of the op's calls; "" for one that takes more than tensors.
std::string_view form_of(const Op& op) {
  if (!is_function(op)) return {};
  const Function f = function_of(op);
  if (has_key(op, "keepdims")) return "REDUCTION";
  constexpr std::array<std::string_view, 4> kByPoint = {
      "point-wise", "elementary", "comparisons", "activations"};
  if (std::ranges::find(kByPoint, op.family->name) == kByPoint.end() ||
      !f.required.empty() ||
      !std::ranges::all_of(f.operands, &Argument::is_tensor)) {
    return {};
  }
  return f.operands.size() == 1   ? "UNARY"
         : f.operands.size() == 2 ? "BINARY"
                                  : std::string_view();
}

}  // namespace
}  // namespace gt::client

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ofstream out(argv[1]);
  for (const gt::Op& op : gt::all_ops()) {
    const std::string_view form = gt::client::form_of(op);
    if (form.empty()) continue;
    out << form << "(\"" << op.name << "\", "
        << gt::client::function_of(op).name << ")\n";
  }
  return out.good() ? 0 : 2;
}
