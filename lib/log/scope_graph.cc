#include "log/scope_graph.h"

#include <algorithm>

#include "log/escape.h"

namespace gt::log {
namespace {

constexpr size_t kMaxOps = 4;  // the most ops that a node names
// Settings without which Graphviz takes minutes for such a graph: they turn off
// curves, labels of edges, and the search for the best order.
constexpr char kQuickly[] =
    "  splines=line; nslimit=1; nslimit1=1; mclimit=0.3;\n";

size_t depth_of(std::string_view signal) {
  return signal.empty()
             ? 0
             : 1 + static_cast<size_t>(std::ranges::count(signal, '/'));
}

// Returns "12 lines: 3 matmul, 2 add, ...".
template <typename Node>
std::string words_of(const Node& node) {
  std::vector<std::pair<uint64_t, std::string_view>> ops;
  for (const auto& [op, count] : node.ops) ops.emplace_back(count, op);
  std::ranges::stable_sort(ops, std::ranges::greater{},
                           &decltype(ops)::value_type::first);
  std::string out =
      std::to_string(node.lines) + (node.lines == 1 ? " line: " : " lines: ");
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i == kMaxOps) return out + ", ...";
    out += (i == 0 ? "" : ", ") + std::to_string(ops[i].first) + " " +
           std::string(ops[i].second);
  }
  return out;
}

}  // namespace

ScopeGraph::Scope ScopeGraph::add(std::string_view signal, std::string_view op,
                                  bool is_backward) {
  Key key{std::string(signal), signal.empty() ? std::string(op) : "",
          is_backward};
  if (ids_.size() >= kMaxScopes && !ids_.contains(key)) {
    key = {"", "(others)", false};
  }
  const auto [it, fresh] =
      ids_.try_emplace(std::move(key), static_cast<Scope>(nodes_.size()));
  if (fresh) {
    keys_.push_back(&it->first);
    nodes_.emplace_back();
  }
  Node& node = nodes_[it->second];
  ++node.lines;
  ++node.ops[std::string(op)];
  return it->second;
}

void ScopeGraph::connect(Scope from, Scope to) { ++edges_[{from, to}]; }

ScopeGraph::Key ScopeGraph::shortened(const Key& key, size_t depth) {
  Key out = key;
  size_t at = 0;
  for (size_t i = 0; i < depth && at != std::string::npos; ++i) {
    at = key.signal.find('/', i == 0 ? 0 : at + 1);
  }
  if (at != std::string::npos) out.signal.resize(at);
  return out;
}

ScopeGraph::Nodes ScopeGraph::merged(size_t depth) const {
  Nodes out;
  for (Scope i = 0; i < nodes_.size(); ++i) {
    Node& node = out[shortened(*keys_[i], depth)];
    node.lines += nodes_[i].lines;
    for (const auto& [op, count] : nodes_[i].ops) node.ops[op] += count;
  }
  return out;
}

size_t ScopeGraph::deepest() const {
  size_t out = 1;
  for (const Key* key : keys_) out = std::max(out, depth_of(key->signal));
  return out;
}

std::string ScopeGraph::dot(size_t most) const {
  size_t depth = deepest();
  Nodes nodes = merged(depth);
  while (nodes.size() > most && depth > 1) nodes = merged(--depth);
  std::map<Key, size_t> numbers;
  std::string out = kQuickly;
  for (const auto& [key, node] : nodes) {
    const size_t number = numbers.size();
    numbers.emplace(key, number);
    std::string title = key.signal.empty() ? key.op : key.signal;
    if (key.is_backward) title += " (backward)";
    out += "  n" + std::to_string(number) + " [label=\"" + dot_text(title) +
           "\\n" + dot_text(words_of(node)) + "\"" +
           (key.is_backward ? ", fillcolor=\"#ece6f5\"" : "") + "];\n";
  }
  std::map<std::pair<size_t, size_t>, uint64_t> edges;
  for (const auto& [edge, count] : edges_) {
    const size_t from = numbers.at(shortened(*keys_[edge.first], depth));
    const size_t to = numbers.at(shortened(*keys_[edge.second], depth));
    if (from != to) edges[{from, to}] += count;
  }
  for (const auto& [edge, count] : edges) {
    out += "  n" + std::to_string(edge.first) + " -> n" +
           std::to_string(edge.second) + " [tooltip=\"" +
           std::to_string(count) + (count == 1 ? " value" : " values") +
           "\"];\n";
  }
  return out;
}

}  // namespace gt::log
