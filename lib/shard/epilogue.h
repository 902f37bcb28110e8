// Writes what must follow a line so that its results are as they are wanted. If
// each rank found the maximum or minimum of its own part, that of all parts is
// found. Sums of f16 and bf16 are rounded once. Results are cut as the config
// says, and the sum of a chunk is taken (chunks.h). A gradient (#grad=) is
// summed, and cut as its target is.
#pragma once

#include <string>
#include <vector>

#include "shard/line_work.h"
#include "shard/materializer.h"
#include "shard/placed_writer.h"

namespace gt::shard {

// Returns, for each result, the name of which it is the gradient, or "" if it
// is none. The notes #grad= belong to the results whose names gt-emit did not
// invent, in the same order.
std::vector<std::string> gradient_targets(const Line& line);

class Epilogue {
 public:
  Epilogue(const Config& config, const Cluster& cluster, ValueTable& values,
           PlacedWriter& writer, Materializer& materializer)
      : config_(config),
        cluster_(cluster),
        values_(values),
        writer_(writer),
        materializer_(materializer) {}

  // Returns the line as it must be written. A note #grad= is taken off if the
  // result is not yet as a gradient of that target must be. Then a line that
  // settle_written() writes later has the note.
  Line without_early_notes(const LineWork& work) const;
  // To be called for a line that sums f16 or bf16 over a dimension that is cut.
  // The sum over all ranks must be taken in f32 and then rounded, as it is on
  // one rank that has the whole. Lets `line`, the one that will be written,
  // leave its result in f32 (out=f32). If its op cannot, writes casts of the
  // operands to f32, and puts their names into `operands`. Returns the types
  // that the results of the line then have. settle_written() rounds them.
  std::vector<Type> widen(const LineWork& work, Line& line,
                          std::vector<std::string>& operands);
  // To be called after a line that was written as planned. Writes all that must
  // follow it.
  void settle_written(LineWork& work);
  // To be called after a line that was written as its expansion or in chunks,
  // whose steps were settled one by one. Brings the results into the layouts
  // that the config and gradients require.
  void settle(LineWork& work);

 private:
  void find_extremes(const LineWork& work);
  void narrow(const LineWork& work);
  Layout pinned(Layout layout, const Layout& pin, const Shape& whole) const;
  Layout gradient_layout(const LineWork& work, const std::string& target,
                         const Type& type, const Layout& made) const;
  void settle_gradients(const LineWork& work);

  const Config& config_;
  const Cluster& cluster_;
  ValueTable& values_;
  PlacedWriter& writer_;
  Materializer& materializer_;
};

}  // namespace gt::shard
