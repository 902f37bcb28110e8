// Takes any text as rank sets, meshes and split=: pieces of a cut can be put
// together again, and every rank set prints as itself. The lines are
// declarations, then a rank set, a split= and the sizes of a whole.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "ops/table.h"
#include "spmd/mesh.h"
#include "spmd/split.h"
#include "stream/ranks.h"
#include "target.h"

namespace {

constexpr size_t kMostSplitRanks = 4096;

using gt::fuzz::require;

std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

const gt::Mesh* read_meshes(std::string_view& text, gt::Meshes& meshes,
                            gt::Line& line) {
  for (;;) {
    std::string_view rest = text;
    const bool parsed = gt::parse_line(next_line(rest), line).ok();
    if (!parsed || !gt::is_declaration(gt::statement_of(line.op))) break;
    (void)meshes.take(line);
    text = rest;
  }
  line = gt::Line{};
  return meshes.of(line);
}

}  // namespace

GT_FUZZ_TARGET(split) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  gt::Meshes meshes;
  gt::Line line;
  const gt::Mesh* mesh = read_meshes(text, meshes, line);
  const auto ranks = gt::parse_ranks(next_line(text));
  if (!ranks.ok()) return 0;
  const auto again = gt::parse_ranks(gt::to_string(ranks.value()));
  require(again.ok() && again.value() == ranks.value());
  if (ranks.value().size() > kMostSplitRanks) return 0;
  const auto grid = gt::Grid::make(mesh, ranks.value());
  const auto split = gt::parse_split(next_line(text));
  const auto whole =
      gt::parse_type("f32[" + std::string(next_line(text)) + "]");
  if (!grid.ok() || !split.ok() || !whole.ok()) return 0;
  const gt::Shape& shape = whole.value().shape;
  const auto regions = gt::cut(split.value(), shape, grid.value());
  if (!regions.ok()) return 0;
  std::vector<gt::Shape> pieces;
  for (const gt::Region& region : regions.value()) {
    for (size_t d = 0; d < shape.size(); ++d) {
      require(region.start[d] >= 0 && region.count[d] >= 0 &&
              region.start[d] + region.count[d] <= shape[d]);
    }
    pieces.push_back(region.count);
  }
  // A rank set that lacks places along the axes has no whole.
  const auto made = gt::whole_of(split.value(), pieces, grid.value());
  if (made.ok()) require(made.value() == shape);
  for (const gt::SplitEntry& entry : split.value()) {
    const auto groups = grid.value().groups(entry.axis);
    if (!groups.ok()) continue;
    size_t members = 0;
    for (const auto& group : groups.value()) members += group.size();
    require(members == ranks.value().size());
  }
  return 0;
}
