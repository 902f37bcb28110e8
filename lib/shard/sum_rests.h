// Puts off sums of parts that lie on different ranks. A table that the first
// stage of a pipeline embeds by and the last multiplies with has a gradient of
// two parts, one on each, and gt-emit adds them in every microbatch:
//
//   d = add _e1 _e0 #mb=0 #bwd #grad=table
//   g = add g d #mb=0
//
// Added as they stand, the last stage's part travels once for each microbatch.
// So it is kept where it is, in a register of ours, as the rest of d
// (ShardValue::rest), and d's own registers hold the other part. A line that
// adds or copies such values adds or copies their rests as well, on the ranks
// where they are. Before any other line that reads the value, its rest is added
// to it; so it travels once, for the total of all microbatches.
//
// Values of f16 and bf16 have no rests, as their sums must not be rounded more
// often, nor overflow sooner, than in the program.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "shard/layout_chooser.h"
#include "shard/line_work.h"
#include "shard/materializer.h"
#include "shard/values.h"

namespace gt::shard {

class SumRests {
 public:
  // Rewrites a line that is made here, as one of the input.
  using Take = std::function<void(const Line& line, const Claims& claims,
                                  const LineContext& at)>;

  SumRests(const Cluster& cluster, ValueTable& values, LayoutChooser& chooser,
           Materializer& materializer, Take take)
      : cluster_(cluster),
        values_(values),
        chooser_(chooser),
        materializer_(materializer),
        take_(std::move(take)) {}

  // To be called before the line is bound. Adds their rests to the values that
  // it reads, unless write() will write the line.
  void settle(LineWork& work);
  // Writes the line if it makes a value that has a rest. Otherwise returns
  // false. The line must be bound.
  bool write(const LineWork& work);

 private:
  void add_rest(const ShardValuePtr& value, const std::string& name,
                const LineWork& work);
  void join(const LineWork& work);
  std::optional<size_t> find_away(const LineWork& work) const;
  void put_off(const LineWork& work, size_t away);
  std::string name_for(const std::string& result, const LineContext& at);
  void take_step(const std::string& text, const std::string& of,
                 const LineWork& work) const;

  const Cluster& cluster_;
  ValueTable& values_;
  LayoutChooser& chooser_;
  Materializer& materializer_;
  Take take_;
};

}  // namespace gt::shard
