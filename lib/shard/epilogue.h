// What is written after a line, so that its results are as they are wanted: of
// maxima and minima that each rank found of its part those of all parts are
// found, sums of f16 and bf16 are rounded once, results are cut as the config
// says, a chunk's sum is made, and a gradient (#grad=) is summed and cut as its
// target is.
#pragma once

#include <string>
#include <vector>

#include "shard/line_work.h"
#include "shard/materializer.h"
#include "shard/placed_writer.h"

namespace gt::shard {

class Epilogue {
 public:
  Epilogue(const Config& config, const Cluster& cluster, ValueTable& values,
           PlacedWriter& writer, Materializer& materializer)
      : config_(config),
        cluster_(cluster),
        values_(values),
        writer_(writer),
        materializer_(materializer) {}

  // The line as it is to be written. A note #grad= goes off it if the result is
  // not yet as a gradient of that target is to be: then the line after it that
  // makes it so gets the note.
  Line without_early_notes(const LineWork& work) const;
  // For a line that sums f16 or bf16 over a dimension that is cut. The sum over
  // all ranks is to be taken in f32 and rounded then, as one rank that had all
  // of it would. Writes casts of the operands to f32, and puts their names into
  // `operands`; returns the types that the line's results have then.
  // settle_written() rounds them.
  std::vector<Type> widen(const LineWork& work,
                          std::vector<std::string>& operands);
  // All of it, after a line that was written as it was planned.
  void settle_written(LineWork& work);
  // After a line's expansion, whose steps were settled one by one: what the
  // config says, and gradients.
  void settle(LineWork& work);

 private:
  void find_extremes(const LineWork& work);
  void narrow(const LineWork& work);
  Layout pinned(Layout layout, const Layout& pin, const Shape& whole) const;
  Layout gradient_layout(const LineWork& work, const std::string& target,
                         const Type& type, const Layout& made) const;
  void settle_gradients(const LineWork& work);
  void write_cast(const std::string& to, const std::string& from,
                  const Layout& layout, const Type& type,
                  const std::string& notes);

  const Config& config_;
  const Cluster& cluster_;
  ValueTable& values_;
  PlacedWriter& writer_;
  Materializer& materializer_;
};

}  // namespace gt::shard
