// The graph of a program that is too large to draw line by line. A scope is
// what one node stands for: all lines that carry one signal ("outer/inner"),
// its gradient's lines (#bwd) apart; or, of lines without a signal, all of one
// op.
//
// A node's text has the number of its lines and their commonest ops, and
// Graphviz makes it as large as that text; an edge's tooltip has how many
// values pass. Where there are too many scopes as well, signals are cut to
// their outer parts, and what comes to be alike is one node.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gt::log {

class ScopeGraph {
 public:
  using Scope = uint32_t;

  // Counts a line, and returns its scope, for connect().
  Scope add(std::string_view signal, std::string_view op, bool is_backward);
  // Counts that a line of `to` reads a value that a line of `from` made.
  void connect(Scope from, Scope to);

  // Nodes and edges in DOT, without the "digraph" around them. There are at
  // most so many nodes, unless the outermost signals and the ops are more.
  std::string dot(size_t most) const;

 private:
  // A program may have new signals without end; those beyond are one scope.
  static constexpr size_t kMaxScopes = size_t{1} << 14;

  struct Key {
    std::string signal;  // "": `op` tells
    std::string op;
    bool is_backward = false;
    auto operator<=>(const Key&) const = default;
  };
  struct Node {
    uint64_t lines = 0;
    std::map<std::string, uint64_t, std::less<>> ops;
  };
  using Nodes = std::map<Key, Node>;

  static Key shortened(const Key& key, size_t depth);
  Nodes merged(size_t depth) const;
  size_t deepest() const;

  std::map<Key, Scope> ids_;
  std::vector<const Key*> keys_;  // by scope
  std::vector<Node> nodes_;       // by scope
  std::map<std::pair<Scope, Scope>, uint64_t> edges_;
};

}  // namespace gt::log
