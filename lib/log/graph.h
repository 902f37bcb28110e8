// gt-log --dot: a program as a graph for Graphviz. Instructions are nodes,
// values are edges from the line that defines them to those that read them,
// signals are boxes around their lines. Written as it is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/writer.h"
#include "log/input.h"
#include "log/select.h"
#include "log/typing.h"

namespace gt {

class Graph {
 public:
  // `selection` may be null: all lines are drawn.
  Graph(const Selection* selection, Writer& out);

  // Takes the instruction at hand; all of a stream's, in order.
  void take(const Input& input);
  void finish();

 private:
  // A value on some ranks; without ranks, of an unplaced name.
  struct Definition {
    std::vector<int64_t> ranks;
    size_t node;
  };
  using Definitions = std::unordered_map<std::string, std::vector<Definition>,
                                         TextHash, std::equal_to<>>;

  void node(const Subject& subject, const Input& input);
  std::string label(const Line& line) const;
  void edges(const Line& line, size_t to);
  void edge(size_t from, size_t to, const Operand& operand);
  size_t outside(std::string_view name, const std::vector<int64_t>& ranks);
  void remove(std::string_view name, const std::vector<int64_t>& ranks);
  void define(const Name& name, size_t node);
  void forget(const Line& line);
  std::string open_clusters(std::string_view signal, size_t& depth);

  const Selection* selection_;
  Writer& out_;
  Typing typing_;
  Definitions definitions_;
  std::unordered_map<std::string, size_t, TextHash, std::equal_to<>> clusters_;
  size_t nodes_ = 0;
  Line line_;
  std::string signal_;
};

}  // namespace gt
