// The layers of a program, as its signals name them, and what each takes. They
// are what gt-shard --plan makes the stages of a pipeline of.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "program/line_sizes.h"
#include "shard/stage_cuts.h"
#include "spmd/machine.h"
#include "stream/line.h"

namespace gt::shard {

// The outermost scopes of a layer's lines.
using LayerScopes = std::vector<std::string>;

// Returns the layers of a step, in an order in which each reads only from those
// before it. A layer is an outermost scope of #signal= notes. Scopes that read
// from each other are one layer. Returns none if a scope is also the name of an
// inner one, since a config cannot tell them apart.
std::vector<LayerScopes> layers_of(const std::vector<std::string>& lines);

// Finds what layers take, from the lines of a step that is placed without
// stages. A line without a signal is of the layer of its first operand that has
// one; and what has no such operand, of the first layer that reads it: so
// weights and optimizers are where gt-shard puts them if a config says on: of
// the layers alone.
class LayerCosts {
 public:
  LayerCosts(const std::vector<LayerScopes>& layers, const Machine& machine);

  // Takes placed lines, each with LF. What they take counts `times` times, for
  // that many microbatches.
  void take(const std::string& lines, double times);
  // To be called at the end of the first step, and only once. Lines behind it
  // take time, but no more memory.
  void end_step();
  // Returns the costs by layer.
  const std::vector<LayerCost>& costs() const { return costs_; }

 private:
  struct Held {
    size_t layer = 0;
    double bytes = 0;
  };

  void take_line(const Line& line, double times);
  size_t layer_of(const Line& line);
  void add_gradient(const Line& line, const Held& held);

  std::unordered_map<std::string, size_t> scopes_;  // the layer of each
  LineSizes sizes_;
  std::vector<LayerCost> costs_;
  std::unordered_map<std::string, Held> held_;  // what names hold now
  // What they held when the backward began.
  std::optional<std::unordered_map<std::string, Held>> at_backward_;
  std::set<std::string> with_gradient_;  // weights, by their names
};

}  // namespace gt::shard
