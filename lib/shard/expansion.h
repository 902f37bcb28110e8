// A line as its op's expansion: the lines in other ops that the op's row in the
// op table gives as its meaning, with names for what they make. gt-shard writes
// these in place of the line where they send fewer bytes.
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

// Gives a name that is not in use.
using NewName = std::function<std::string()>;

class Expansion {
 public:
  struct NamedStep {
    Line line;                   // views into the expansion until the next one
    std::set<std::string> dead;  // names that nobody reads after it
  };

  // Both outlive it.
  Expansion(const Line& line, const Call& call);
  size_t size() const { return steps_.size(); }
  // The steps are to be asked for once each and in order, since names of values
  // that are dead may be given again.
  NamedStep step(size_t s, const NewName& new_name);
  // After the last step: a result whose name the line reads as well ("x = gelu
  // x") was made under an invented name. These, each with the result's own
  // name, which the caller gives it now.
  std::vector<std::pair<std::string, std::string>> renamed() const;

 private:
  std::string name_result(const Ref& ref, const NewName& new_name) const;

  const Line& line_;
  const Call& call_;
  std::vector<Step> steps_;
  StepValues<size_t> last_use_;    // a step
  StepValues<std::string> names_;  // of the values there are so far
};

}  // namespace gt::shard
