// gt-log --dot: draws a program as a graph for Graphviz. Instructions are
// nodes, values are edges from the line that defines them to those that read
// them, and signals are boxes around their lines.
//
// Graphviz cannot lay out, nor a person read, more than some hundred nodes. In
// the graph of a larger program the nodes are scopes (scope_graph.h): a scope
// is a signal, "outer/inner", with all lines that carry it. Graphviz makes a
// box as large as its text; the types in that text ("y@0-3 f32[128]") come from
// typing.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/writer.h"
#include "log/input.h"
#include "log/scope_graph.h"
#include "log/select.h"
#include "log/typing.h"

namespace gt::log {

class Graph {
 public:
  // If `selection` is null, all lines are drawn.
  Graph(const Selection* selection, Writer& out);

  // Takes the instruction that the input is at. To be called for all
  // instructions of a stream, in order, since types follow from the lines
  // before. Lines that the selection leaves out are not drawn.
  void take(const Input& input);
  // Writes the graph. To be called after the last instruction.
  void finish();
  size_t lines() const { return lines_; }  // lines that were drawn
  // True if there were too many lines, so that the nodes are scopes.
  bool is_by_scope() const { return nodes_ > kMaxNodes; }

 private:
  static constexpr size_t kMaxNodes = 500;
  static constexpr size_t kMaxScopes = 120;  // fewer, since each has many edges

  // The line that made a value on some ranks; no ranks if the name has none.
  struct Definition {
    std::vector<int64_t> ranks;
    size_t node;
    ScopeGraph::Scope scope;
  };
  using Definitions = std::unordered_map<std::string, std::vector<Definition>,
                                         TextHash, std::equal_to<>>;

  void node(const Subject& subject, const Input& input);
  ScopeGraph::Scope scope_of(const Subject& subject);
  std::string label(const Line& line) const;
  void edges(const Line& line, size_t to, ScopeGraph::Scope scope);
  void edge(size_t from, size_t to, const Operand& operand);
  size_t outside(std::string_view name, const std::vector<int64_t>& ranks);
  void write(std::string_view text);
  void remove(std::string_view name, const std::vector<int64_t>& ranks);
  void define(const Name& name, size_t node, ScopeGraph::Scope scope);
  void forget(const Line& line);
  std::string open_clusters(std::string_view signal, size_t& depth);

  const Selection* selection_;
  Writer& out_;
  Typing typing_;
  Definitions definitions_;
  std::unordered_map<std::string, size_t, TextHash, std::equal_to<>> clusters_;
  ScopeGraph scopes_;
  std::string lines_text_;  // nodes and edges, while there are not too many
  size_t nodes_ = 0;
  size_t lines_ = 0;
  Line line_;
  std::string signal_;
};

}  // namespace gt::log
