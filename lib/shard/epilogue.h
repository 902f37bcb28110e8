// What follows a line, so that its results are what is wanted of them: the
// largest of all parts is found, sums of halves are rounded once, results are
// cut as the config says, gradients are summed and cut as their targets are.
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

  // The line as it is written: a result that is not yet what #grad= says of it
  // leaves that note to the line that makes it so.
  Line without_early_notes(const LineWork& work) const;
  // Sums of f16 and bf16 over what is cut are taken in f32 on all ranks
  // together, and rounded then, as a rank that has all of it would. Widens the
  // operands; the types of the results are then these.
  std::vector<Type> widen(const LineWork& work,
                          std::vector<std::string>& operands);
  // After the line as it was planned.
  void settle_written(LineWork& work);
  // After it, or after its expansion.
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
