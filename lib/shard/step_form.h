// A step of a training as gt-shard --plan prices it. A file has the step once,
// behind the lines that make its weights. But a step in a loop begins with what
// the one before left: a weight that was updated in parts, for example, must
// first be gathered. So what is priced are two steps, one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace gt::shard {

struct StepLine {
  std::string text;
  double times = 1;  // how often what it takes counts
};

// The lines of a step, and of a second one behind it.
struct TwoSteps {
  std::vector<StepLine> lines;
  size_t second = 0;  // the index of the first line of the second step
};

class StepForm {
 public:
  // Reads the lines of a file, as gt-emit writes them. All must parse.
  explicit StepForm(const std::vector<std::string>& lines);

  bool has_microbatches() const { return !microbatches_.empty(); }
  // Returns the number of microbatches (#mb=), or 1 if there are none.
  size_t microbatches() const {
    return std::max<size_t>(microbatches_.size(), 1);
  }

  // Returns all lines twice. The second step does not create its state: what
  // the first one updates behind its gradients, such as weights and moments.
  TwoSteps whole() const;
  // Returns fewer lines, which together take what a step takes. The second step
  // ends where its gradients begin, and what the first one does until there
  // does not count. Microbatches are alike, so of more than `most` only the
  // first ones remain, of which the last counts for those that are left out. So
  // are lines that read what only these make.
  TwoSteps brief(size_t most) const;

 private:
  struct Part {
    std::string text;
    int64_t microbatch = -1;
    bool is_backward = false, is_free = false;
    bool is_creation = false;
    std::vector<std::string> reads, binds;
  };
  size_t first_backward() const;
  bool creates_state(const Part& line) const;

  std::vector<Part> lines_;
  std::set<int64_t> microbatches_;
  std::set<std::string> state_;  // names
};

}  // namespace gt::shard
