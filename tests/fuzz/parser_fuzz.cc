// Any bytes parse or are refused with a column in the line; what parses prints
// to a form that parses to itself; and an op that it names binds or refuses,
// whatever the types of its operands.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/message.h"
#include "ops/call.h"
#include "ops/text.h"
#include "stream/line.h"

namespace {

void check(bool condition) {
  if (!condition) std::abort();
}

// Types by the first letter of a name, so that the fuzzer can choose them.
const gt::Type& type_for(std::string_view name) {
  using gt::Dtype;
  static const gt::Type kTypes[] = {
      {Dtype::kF32, {2, 3}},  {Dtype::kF64, {}},
      {Dtype::kI64, {}},      {Dtype::kBf16, {3}},
      {Dtype::kBool, {1, 3}}, {Dtype::kI32, {2}},
      {Dtype::kF32, {0, 3}},  {Dtype::kF16, {1, 1, 1, 1, 1, 1, 1, 2}},
  };
  return kTypes[static_cast<unsigned char>(name[0]) % std::size(kTypes)];
}

void bind_as_written(const gt::Line& line) {
  std::vector<const gt::Type*> types;
  for (const gt::Operand& operand : line.operands) {
    const bool name = operand.kind == gt::Operand::Kind::kName;
    types.push_back(name ? &type_for(operand.text) : nullptr);
  }
  gt::Call call;
  if (!gt::bind(line, types, call).ok()) return;
  gt::gradient_steps(call);
  gt::expansion_steps(call);
  gt::flops(call);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  gt::Line line;
  const gt::Status status = gt::parse_line(text, line);
  if (!status.ok()) {
    const gt::Error& error = status.error();
    check(error.column >= 1 && error.column <= size + 1);
    gt::format_error("fuzz", {"f", 1}, error, text);
    return 0;
  }
  std::string once, twice;
  gt::append_line(once, line);
  gt::Line again;
  check(gt::parse_line(once, again).ok());
  gt::append_line(twice, again);
  check(once == twice);
  if (line.kind == gt::Line::Kind::kInstruction) bind_as_written(line);
  return 0;
}
