// An op's expansion as lines, with names for what they make.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ops/call.h"
#include "ops/text.h"
#include "stream/line.h"

namespace gt::shard {

// Gives a name that is not in use.
using NewName = std::function<std::string()>;

class Expansion {
 public:
  struct Step {
    std::string text;            // without notes
    std::set<std::string> dead;  // names that nobody reads after it
  };

  Expansion(const Line& line, const Call& call);
  size_t size() const { return steps_.size(); }
  // The steps are asked for in order: names that died may be taken again.
  Step step(size_t s, const NewName& new_name);
  // Once all were: results that are made under an invented name, since the line
  // reads theirs, with the names to give them in the end.
  std::vector<std::pair<std::string, std::string>> renamed() const;

 private:
  using Key = std::pair<Ref::Kind, uint32_t>;
  static Key key(const Ref& ref) { return {ref.kind, ref.index}; }
  std::string name_result(const Ref& ref, const NewName& new_name) const;

  const Line& line_;
  const Call& call_;
  std::vector<gt::Step> steps_;
  std::map<Key, size_t> last_use_;
  std::map<Key, std::string> names_;
};

}  // namespace gt::shard
