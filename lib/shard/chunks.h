// Products in chunks: chunks: in the config. A product (an op with a weight)
// that needs communication right before or right after it keeps its ranks
// waiting: an operand is gathered, and only then multiplied; or all of the
// result is computed, and only then summed. Written in chunks along a dimension
// that the product keeps, one chunk travels while another is computed, since a
// worker runs communication beside computation:
//
//   _s0@0-1 _s1@0-1 = split x@0-1 axis=0
//   _s0@0-1 = all_gather _s0@0-1 over=tp src=S1 dst=R
//   _s1@0-1 = all_gather _s1@0-1 over=tp src=S1 dst=R
//   _s2@0-1 = linear _s0@0-1 w@0-1 b@0-1
//   _s3@0-1 = linear _s1@0-1 w@0-1 b@0-1
//   y@0-1 = concat _s2@0-1 _s3@0-1 axis=0
//
// A worker starts a communication when its computation comes to that line. So
// all gathers stand before the first product, and a sum of summands stands
// right behind the product of its chunk: it is not put off until a line reads
// the result. What that line will want is not known yet, unless the config says
// results:. Else the sum is cut as an operand of a product was that had this
// shape and was gathered, since both are what a model has between its products;
// and if there was none, every rank gets the whole sum.
//
// Where ranks have parts of the only dimension that could be cut into chunks,
// the dimension is viewed as two: which rank's part, and the place in it, which
// is cut. So a chunk holds some of each rank's part.
//
// Source: the decomposition of Wang et al., "Overlap Communication with
// Dependent Computation via Decomposition" (ASPLOS 2023).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ops/index_rule.h"
#include "shard/line_work.h"

namespace gt::shard {

// How a product is written in chunks.
struct Chunking {
  // The argument that is taken apart: what is multiplied with the weight.
  static constexpr size_t kOperand = 0;

  Label label;        // the dimension, in each tensor of the product
  int64_t count = 1;  // chunks
  // How many ranks' parts the dimension is viewed as; 1: it is cut as it is.
  int64_t ranks = 1;
  bool is_gathered = false;  // the operand, to the layout of the plan
  // The layout of the result's sum, if the products are summands.
  std::optional<Layout> sum;

  // The lengths of the chunks.
  std::vector<int64_t> lengths() const;
  // A tensor with the label in this place, of this shape, as it is viewed; and
  // the dimension of the view that is cut into chunks.
  Shape viewed(const Shape& shape, const LabelDim& place) const;
  int32_t axis(const LabelDim& place) const;
  // The line that splits the operand, as it is viewed, into chunks.
  std::string split_text(const std::vector<std::string>& chunks,
                         const std::string& operand) const;
  // A layout of the whole as one of a chunk, and back.
  Layout of_chunk(const Layout& whole, const LabelDim& place) const;
  Layout of_whole(const Layout& chunk, const LabelDim& place) const;
  // The plan of the whole product as that of the product of one chunk.
  Plan of_chunk(const Plan& whole) const;
};

// How operands of products were cut before they were gathered, by shape.
class GatheredCuts {
 public:
  void note(const Shape& shape, const Layout& layout);
  const Layout* find(const Shape& shape) const;  // null: none had that shape
  // All that later lines depend on.
  void describe(const Cluster& cluster, std::string& out) const;

 private:
  static constexpr size_t kMost = 256;
  std::map<std::string, Layout> by_shape_;
};

// How the line, whose layouts are chosen, is to be written in chunks; nothing:
// it is not. `wanted`: the number of chunks, or kChunksByCost. Chunks are as
// many as that at most, fewer if the dimension is shorter.
std::optional<Chunking> choose_chunks(const Cluster& cluster,
                                      const Machine& machine,
                                      const GatheredCuts& cuts,
                                      const LineWork& work, int64_t wanted);

}  // namespace gt::shard
