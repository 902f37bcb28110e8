// What a line is apart from its names. Two lines of one pattern whose operands
// have equal types mean the same to every table that is keyed by it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gt {

struct Pattern {
  std::string key;                      // the line, each name as one '\1'
  std::vector<std::string_view> names;  // in order, results first
  size_t results = 0;                   // how many of them are results

  // False for lines that are not worth it: no results, other spacing than
  // canonical, strings, remarks, names with ranks or, unless allowed, names
  // that begin with '_'. `this` keeps views into `line`.
  bool scan(std::string_view line, bool internal_names);
};

}  // namespace gt
