// Reads YAML into a tree whose nodes know their places in the text. The text
// may come from anyone, so its size, its nesting depth and the number of nodes
// that its aliases expand to are bounded.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gt::shard {

struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  size_t line = 0;  // counted from 1, as columns are
  size_t column = 0;
  std::string text;                    // a scalar's text without quotes
  std::vector<const YamlNode*> items;  // a map: key, value, key, value
  size_t weight = 1;                   // number of nodes in this subtree
};

// A parsed text. A node that has an anchor may stand in several places of the
// tree.
struct YamlDocument {
  std::deque<YamlNode> nodes;
  const YamlNode* root = nullptr;  // null: the text has no value
};

struct YamlFault {
  size_t line = 0;  // 0: the fault concerns the whole text
  Error error;
};

// Parses the text. Every key must be a scalar that occurs once in its map.
// Tags, merge keys and a second document are faults. Returns the first fault,
// or nothing if there is none.
std::optional<YamlFault> parse_yaml(std::string_view text, YamlDocument& out);

}  // namespace gt::shard
