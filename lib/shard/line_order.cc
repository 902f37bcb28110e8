#include "shard/line_order.h"

#include <algorithm>

#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::shard {

void LineOrder::take_lines(std::string_view lines, std::string& out) {
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    take_line(lines.substr(0, end), out);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

double LineOrder::pass(std::string_view text, const Line& line,
                       const Result<LineRanks>& ranks, std::string& out) {
  out += text;
  out += '\n';
  if (!ranks.ok()) return 0;  // the line does nothing
  const LineRanks& where = ranks.value();
  if (statement_of(line.op) == Statement::kFree) {
    for (size_t o = 0; o < where.operands.size(); ++o) {
      memory_.free(std::string(line.operands[o].text),
                   ascending(where.operands[o]));
    }
  }
  const LineSize size = sizes_.take(line, where);
  for (size_t r = 0; r < line.results.size(); ++r) {
    memory_.bind(std::string(line.results[r].text), ascending(where.ranks),
                 size.bytes[r]);
  }
  memory_.end_line();
  return size.seconds;
}

bool ends_order(const Line& line) {
  const Statement statement = statement_of(line.op);
  const bool has_glob = std::any_of(
      line.operands.begin(), line.operands.end(),
      [](const Operand& o) { return o.kind == Operand::Kind::kGlob; });
  return is_output(statement) || is_declaration(statement) || has_glob ||
         statement == Statement::kGrad || !is_placed(line);
}

}  // namespace gt::shard
