#include "ops/part.h"

namespace gt {

int64_t Part::first() const {
  int64_t at = 0;
  for (size_t i = 0; i < whole.size(); ++i) at = at * whole[i] + start[i];
  return at;
}

std::optional<Part> parse_part(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto start = parse_shape(text.substr(0, slash), false);
  const auto whole = parse_shape(text.substr(slash + 1), false);
  if (!start.ok() || !whole.ok()) return std::nullopt;
  return Part{start.value(), whole.value()};
}

bool states_sizes(const Op& op) {
  const int key = op.key_index("shape");
  return key >= 0 && op.keys[static_cast<size_t>(key)].required;
}

const Shape& part_block(const Call& call) {
  const int operand = call.op->row->part_operand;
  return operand < 0 ? call.results[0].shape
                     : call.type(static_cast<size_t>(operand)).shape;
}

Result<Part> part_of(const Call& call) {
  const Shape& block = part_block(call);
  const std::string_view text = call.key("part");
  if (text.empty()) {
    Part part{block, block};
    for (size_t i = 0; i < block.size(); ++i) part.start[i] = 0;
    return part;
  }
  const auto part = parse_part(text);
  if (!part || part->start.size() != block.size() ||
      part->whole.size() != block.size()) {
    return Error{"part=" + std::string(text) +
                 " must have a number for each dimension of the block [" +
                 to_string(block) +
                 "]: where it begins, '/', and the sizes of the whole"};
  }
  if (!check_size({Dtype::kF64, part->whole}).ok()) {
    return Error{"part=" + std::string(text) +
                 ": the whole is too large: over 2^57 elements"};
  }
  for (size_t i = 0; i < block.size(); ++i) {
    if (block[i] <= part->whole[i] &&
        part->start[i] <= part->whole[i] - block[i]) {
      continue;
    }
    return Error{"part=" + std::string(text) + ": a block [" +
                 to_string(block) + "] does not fit there along axis " +
                 std::to_string(i)};
  }
  return *part;
}

}  // namespace gt
