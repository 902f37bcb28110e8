// Cuts a chain of layers into the stages of a pipeline.
#pragma once

#include <cstdint>
#include <vector>

namespace gt::shard {

// What a layer takes on each of the ranks that share it.
struct LayerCost {
  double seconds = 0;  // in a step, forward and backward
  double kept = 0;     // bytes of weights, moments and gradients
  double open = 0;     // bytes that a microbatch holds for its backward
};

// A part of the chain, which runs on one stage.
struct StagePart {
  int64_t stage = 0;
  int64_t open = 1;   // how many microbatches it has under way at most
  double memory = 0;  // bytes for its layers; 0: no limit
};

// Returns for each layer the index of its part. Each part has one layer or
// more, next to each other, in the order of the parts; there are at least as
// many layers as parts. No cut exceeds the memory of a part by less; of those
// that exceed it by as little, none has a faster slowest part; and of these,
// none has a smaller largest one.
std::vector<size_t> cut_into_parts(const std::vector<LayerCost>& layers,
                                   const std::vector<StagePart>& parts);

// Returns `count` parts that go through the stages in turn. With `returns` they
// come back in the opposite direction: 0 1 2 2 1 0, in place of 0 1 2 0 1 2.
std::vector<StagePart> parts_of(int64_t stages, int64_t count, bool returns);

}  // namespace gt::shard
