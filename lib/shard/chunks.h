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
// Nothing hides the first chunk's gather, or the last chunk's sum. So with
// chunks: auto the chunks are unequal: if products take longer than what
// travels, a gathered chunk is as many times the one before as they do, so that
// it just travels while that one is multiplied; and sums shrink likewise. A few
// such chunks do what many equal ones would, which cost a message each.
//
// Where ranks have parts of the only dimension that could be cut into chunks,
// the dimension is viewed as two: which rank's part, and the place in it, which
// is cut. So a chunk holds some of each rank's part.
//
// Source: the decomposition of Wang et al., "Overlap Communication with
// Dependent Computation via Decomposition" (ASPLOS 2023).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ops/index_rule.h"
#include "shard/layouts_by_shape.h"
#include "shard/line_work.h"

namespace gt::shard {

// Says how a product is computed in chunks.
struct Chunking {
  // The argument that is taken apart: what is multiplied with the weight.
  static constexpr size_t kOperand = 0;

  Label label;        // the dimension that is cut into chunks
  int64_t count = 1;  // the number of chunks
  // The number of ranks that have parts of the dimension, which is then viewed
  // as two; 1 if it is cut into chunks as it is.
  int64_t ranks = 1;
  bool is_gathered = false;  // true if the plan gathers the operand
  // The layout to which the products are summed; empty if they are no summands.
  std::optional<Layout> sum;
  double growth = 1;  // each chunk is about so many times the one before

  // Returns the lengths of the chunks along the dimension, or along the second
  // of the two that it is viewed as.
  std::vector<int64_t> lengths() const;
  // Take the place of the label in a tensor. Return the shape in which a tensor
  // of the given shape is viewed, and the dimension of the view that is cut
  // into chunks.
  Shape viewed(const Shape& shape, const LabelDim& place) const;
  int32_t axis(const LabelDim& place) const;
  // Returns the text of the line that splits the viewed operand into chunks.
  std::string split_text(const std::vector<std::string>& chunks,
                         const std::string& operand) const;
  // Turn a layout of the whole tensor into one of its chunks, and back.
  Layout of_chunk(const Layout& whole, const LabelDim& place) const;
  Layout of_whole(const Layout& chunk, const LabelDim& place) const;
  // Turns the plan of the whole product into that of one chunk's.
  Plan of_chunk(const Plan& whole) const;
};

// Returns how the line, a product whose layouts are chosen and whose operand is
// written, is to be computed in chunks. `wanted` is the number of chunks, or
// kChunksByCost for as many as take the least time; there are fewer if the
// dimension is shorter. `gathered` holds the layouts in which operands of
// products were before they were gathered. Error: why the line stays whole.
Result<Chunking> choose_chunks(const Cluster& cluster, const Machine& machine,
                               const LayoutsByShape& gathered,
                               const LineWork& work, int64_t wanted);

}  // namespace gt::shard
