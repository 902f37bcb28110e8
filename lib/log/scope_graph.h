// The graph of a large program by its scopes: a node for the lines of a signal,
// those of its gradient apart; for lines without a signal, one for each op. An
// edge has in its tooltip how many values pass. Where these are too many as
// well, signals are cut to their outer scopes.
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

  // A line. Its scope is good for connect().
  Scope add(std::string_view signal, std::string_view op, bool is_backward);
  // A value that one of `from` made is read by one of `to`.
  void connect(Scope from, Scope to);

  // Nodes and edges, without the frame; of at most so many nodes if that can
  // be.
  std::string dot(size_t most) const;

 private:
  // Of names that never end, the rest is one scope.
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
