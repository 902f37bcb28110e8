// Puts a whole together from the pieces that ranks hold, for print and save.
#include <algorithm>

#include "base/message.h"
#include "spmd/placed.h"

namespace gt {
namespace {

Error error_at(const Line& line, const std::string& message) {
  return Error{std::string(line.op) + ": " + message, line.op_column};
}

// Puts regions together, one dimension after the other.
class Assembler {
 public:
  Assembler(const std::vector<Region>& regions, ProgramWriter& writer)
      : regions_(regions), writer_(writer) {}

  Ref build(std::vector<size_t> pieces, size_t dim) {
    if (dim == regions_[0].start.size()) return use(pieces[0]);
    std::stable_sort(pieces.begin(), pieces.end(), [&](size_t a, size_t b) {
      const Region& x = regions_[a];
      const Region& y = regions_[b];
      return std::pair(x.start[dim], x.count[dim]) <
             std::pair(y.start[dim], y.count[dim]);
    });
    std::vector<Ref> parts;
    for (size_t i = 0; i < pieces.size();) {
      std::vector<size_t> same;
      const Region& first = regions_[pieces[i]];
      for (; i < pieces.size() &&
             regions_[pieces[i]].start[dim] == first.start[dim] &&
             regions_[pieces[i]].count[dim] == first.count[dim];
           ++i) {
        same.push_back(pieces[i]);
      }
      // An empty part adds nothing, unless there is no other.
      const bool last = i == pieces.size();
      if (first.count[dim] == 0 && !(last && parts.empty())) continue;
      parts.push_back(build(std::move(same), dim + 1));
    }
    if (parts.size() == 1) return parts[0];
    return writer_.set(
        step_of("concat", parts, {{"axis", std::to_string(dim)}}));
  }

  // Returns the pieces that the program takes, in its order.
  const std::vector<size_t>& used() const { return used_; }

 private:
  Ref use(size_t piece) {
    used_.push_back(piece);
    return piece_ref(used_.size() - 1);
  }

  const std::vector<Region>& regions_;
  ProgramWriter& writer_;
  std::vector<size_t> used_;
};

}  // namespace

Result<Assembly> assembly(const Line& line, const Grid& grid,
                          const PieceType& types,
                          const std::function<bool(int64_t)>& prefers) {
  Assembly out;
  std::vector<Shape> shapes;
  const Dtype dtype = types(0, grid.ranks()[0])->dtype;
  for (const int64_t rank : grid.ranks()) {
    const Type& piece = *types(0, rank);
    shapes.push_back(piece.shape);
    if (piece.dtype == dtype) continue;
    return error_at(line, "the pieces hold different dtypes");
  }
  const std::string_view* text = line.key("split");
  const auto split = parse_split(unquote(*text));
  if (!split.ok()) return error_at(line, split.error().message);
  const auto whole = whole_of(split.value(), shapes, grid);
  if (!whole.ok()) return error_at(line, whole.error().message);
  if (const std::string_view* shape = line.key("shape")) {
    const auto stated = parse_shape(unquote(*shape), false);
    if (!stated.ok() || !(stated.value() == whole.value())) {
      return error_at(line, "shape=" + excerpt(*shape) +
                                ", but the pieces make [" +
                                to_string(whole.value()) + "]");
    }
  }
  const auto regions = cut(split.value(), whole.value(), grid);
  GT_CHECK(regions.ok());
  std::vector<size_t> all;
  for (size_t i = 0; i < grid.size(); ++i) all.push_back(i);
  if (prefers) {
    std::stable_partition(all.begin(), all.end(),
                          [&](size_t i) { return prefers(grid.ranks()[i]); });
  }
  ProgramWriter writer;
  Assembler assembler(regions.value(), writer);
  writer.give(0, copy_of(assembler.build(std::move(all), 0)));
  out.program = writer.take(1);
  for (const size_t i : assembler.used()) {
    out.sources.push_back(grid.ranks()[i]);
    out.pieces.push_back({dtype, shapes[i]});
  }
  out.target = grid.ranks()[0];
  out.whole = {dtype, whole.value()};
  return out;
}

}  // namespace gt
