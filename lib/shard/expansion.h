// Turns a line into its op's expansion: the lines in other ops that the op
// table gives as the meaning of the op, with names for what they make. gt-shard
// writes these in place of the line if they send fewer bytes.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ops/call.h"
#include "ops/step_values.h"
#include "ops/text.h"
#include "stream/line.h"

namespace gt::shard {

// Returns a name that is not in use.
using NewName = std::function<std::string()>;

class Expansion {
 public:
  struct NamedStep {
    Line line;                   // its views are valid until the next step()
    std::set<std::string> dead;  // temporary names that no later step reads
  };

  // Both arguments must outlive the expansion.
  Expansion(const Line& line, const Call& call);
  size_t size() const { return steps_.size(); }
  // Returns step s. Each step must be asked for once and in order, since the
  // name of a dead value may be used again.
  NamedStep step(size_t s, const NewName& new_name);
  // True if the op's results have no history, as those of an optimizer,
  // although the expansion's would have one. All of them then are made under
  // invented names, and must be detached when they get their own.
  bool ends_history() const;
  // To be called after the last step. If the line reads the name of one of its
  // results as well ("x = gelu x"), that result was made under an invented
  // name. Returns these names, each with the result's own name, which the
  // caller must now give it.
  std::vector<std::pair<std::string, std::string>> renamed() const;

 private:
  std::string name_result(const Ref& ref, const NewName& new_name) const;

  const Line& line_;
  const Call& call_;
  std::vector<Step> steps_;
  StepValues<size_t> last_use_;    // the last step that uses a value
  StepValues<std::string> names_;  // the names of the values made so far
};

}  // namespace gt::shard
