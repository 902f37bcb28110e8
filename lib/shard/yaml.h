// Reads YAML into a tree whose nodes know their lines. The text may come from
// anyone, so its size, its depth, and what its aliases expand to are bounded.
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
  size_t line = 0;  // 1-based, as the column is
  size_t column = 0;
  std::string text;                    // of a scalar, without its quotes
  std::vector<const YamlNode*> items;  // of a map: key, value, key, value
  size_t weight = 1;                   // nodes from here on down
};

// A node that an anchor names may stand in several places.
struct YamlDocument {
  std::deque<YamlNode> nodes;
  const YamlNode* root = nullptr;  // null: the file says nothing
};

struct YamlFault {
  size_t line = 0;  // 0: it is about the whole
  Error error;
};

// Keys are words, and each stands once in its map; there are no tags and no
// second document.
std::optional<YamlFault> parse_yaml(std::string_view text, YamlDocument& out);

}  // namespace gt::shard
