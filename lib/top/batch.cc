#include "top/batch.h"

#include <fmt/format.h>

namespace gt::top {

std::string batch_header() {
  std::string out = "time\tkind";
  for (size_t c = 0; c < kColumns; ++c) {
    out += '\t';
    out += key_of(static_cast<Column>(c));
  }
  return out + "\n";
}

std::string batch_rows(const Model& model, double time) {
  const std::string stamp = fmt::format("{:.3f}", time);
  std::string out;
  for (const Row::Kind kind :
       {Row::Kind::kRoute, Row::Kind::kWorker, Row::Kind::kOp,
        Row::Kind::kWorkerOp, Row::Kind::kClient}) {
    for (const Row& row : model.rows(kind)) {
      out.append(stamp).append("\t").append(word_of(kind));
      for (const Cell& cell : row.cells) out.append("\t").append(cell.plain());
      out += '\n';
    }
  }
  return out;
}

}  // namespace gt::top
