#include "spmd/stated.h"

#include "ops/call.h"
#include "ops/part.h"

namespace gt {

Error at(uint32_t column, const Line& line, const std::string& message) {
  return Error{std::string(line.op) + ": " + message, column};
}

Error at_op(const Line& line, const std::string& message) {
  return at(line.op_column, line, message);
}

int key_at(const Line& line, std::string_view name) {
  for (size_t i = 0; i < line.keys.size(); ++i) {
    if (line.keys[i].key == name) return static_cast<int>(i);
  }
  return -1;
}

Result<Whole> find_whole(const Line& line) {
  Whole whole;
  for (size_t i = 0; i < line.operands.size(); ++i) {
    if (line.operands[i].kind != Operand::Kind::kType) continue;
    const auto type = parse_type(line.operands[i].text);
    if (!type.ok()) {
      return at(line.operands[i].column, line, type.error().message);
    }
    whole.operand = static_cast<int>(i);
    whole.shape = type.value().shape;
    whole.dtype = type.value().dtype;
    return whole;
  }
  whole.key = key_at(line, "shape");
  if (whole.key < 0) {
    return at_op(line, "split= needs shape=, the sizes of the whole");
  }
  const Key& key = line.keys[static_cast<size_t>(whole.key)];
  const auto shape = parse_shape(unquote(key.value), true);
  if (!shape.ok()) return at(key.column, line, shape.error().message);
  for (const int64_t size : shape.value()) {
    if (size >= 0) continue;
    return at(key.column, line,
              "shape= beside split= states the sizes of the whole, none of "
              "them -1");
  }
  whole.shape = shape.value();
  return whole;
}

Line whole_line(const Line& line, const Op& op) {
  Line whole = line;
  std::erase_if(whole.keys, [&](const Key& key) {
    return key.key == "split" || key.key == "part" ||
           (key.key == "shape" && !states_sizes(op));
  });
  return whole;
}

}  // namespace gt
