// ScopeGraph: the graph of a program that is too large to draw line by line.
// Each node is a scope: all lines that carry one signal ("outer/inner"), in
// which those of its gradient (#bwd) are a scope of their own; or, for lines
// without a signal, all lines of one op.
//
// A node's text has the number of its lines and their most frequent ops, and
// Graphviz makes the node as large as that text; an edge's tooltip says how
// many values pass. If there are too many scopes as well, signals are shortened
// to their outer parts, and scopes that become equal are one node.
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

  // Returns nodes and edges in DOT, without the "digraph" around them. There
  // are at most `most` nodes, unless there are more outermost signals and ops
  // than that.
  std::string dot(size_t most) const;

 private:
  // A program may make new signals without end; those beyond this number are
  // one scope.
  static constexpr size_t kMaxScopes = size_t{1} << 14;

  struct Key {
    std::string signal;  // "": the scope is that of `op`
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
  std::vector<const Key*> keys_;  // indexed by scope
  std::vector<Node> nodes_;       // indexed by scope
  std::map<std::pair<Scope, Scope>, uint64_t> edges_;
};

}  // namespace gt::log
