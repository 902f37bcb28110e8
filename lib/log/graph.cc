#include "log/graph.h"

#include <algorithm>

#include "log/escape.h"
#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::log {
namespace {

constexpr std::string_view kHead = R"(digraph gt {
  newrank=true; nodesep=0.25; ranksep=0.35; labeljust=l;
  fontname="Helvetica"; fontsize=11;
  node [shape=box, style="rounded,filled", fillcolor="#ffffff",
        color="#5f6b7a", fontname="Helvetica", fontsize=11, margin="0.12,0.05"];
  edge [color="#7b8794", fontcolor="#4a5560", fontname="Helvetica", fontsize=9,
        arrowsize=0.6];
)";
constexpr size_t kMaxLabel = 60;

std::vector<int64_t> ranks_of(std::string_view text) {
  if (text.empty()) return {};
  auto ranks = parse_ranks(text);
  if (!ranks.ok()) return {};
  std::sort(ranks.value().begin(), ranks.value().end());
  return std::move(ranks.value());
}

bool meet(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  if (a.empty() || b.empty()) return true;
  return std::any_of(a.begin(), a.end(), [&b](int64_t rank) {
    return std::binary_search(b.begin(), b.end(), rank);
  });
}

// Returns the node's attributes, by which kinds of lines look different.
std::string_view look_of(const Line& line) {
  const Op* op = find_op(line.op);
  if (op == nullptr) return ", style=\"rounded,dashed\"";
  if (line.note("bwd") != nullptr) return ", fillcolor=\"#ece6f5\"";
  const std::string_view family = op->family->name;
  if (family == "creation") return ", shape=ellipse, fillcolor=\"#e3f1de\"";
  if (family == "output") return ", fillcolor=\"#fdf0cc\"";
  if (family == "ranks") return ", fillcolor=\"#dbe9fb\"";
  return "";
}

void append_named(std::string& out, std::string_view name,
                  std::string_view ranks) {
  out += name;
  if (ranks.empty()) return;
  out += '@';
  out += ranks;
}

std::string number(size_t n) { return std::to_string(n); }

}  // namespace

Graph::Graph(const Selection* selection, Writer& out)
    : selection_(selection), out_(out) {}

void Graph::write(std::string_view text) {
  if (!is_by_scope()) lines_text_ += text;
}

void Graph::finish() {
  out_.write(kHead);
  out_.write(is_by_scope() ? scopes_.dot(kMaxScopes) : lines_text_);
  out_.write("}\n");
}

void Graph::take(const Input& input) {
  typing_.take(input.text());
  const Subject subject = subject_of(input, line_, signal_);
  if (subject.line == nullptr) return;
  if (statement_of(subject.line->op) == Statement::kFree) {
    return forget(*subject.line);
  }
  if (selection_ != nullptr && !selection_->matches(subject)) {
    for (const Name& name : subject.line->results) {
      remove(name.text, ranks_of(name.ranks));
    }
    return;
  }
  node(subject, input);
}

void Graph::node(const Subject& subject, const Input& input) {
  const Line& line = *subject.line;
  size_t depth = 0;
  const size_t id = nodes_++;
  ++lines_;
  const ScopeGraph::Scope scope = scope_of(subject);
  edges(line, id, scope);
  for (const Name& name : line.results) define(name, id, scope);
  if (is_by_scope()) return lines_text_.clear();
  std::string out = open_clusters(subject.signal, depth);
  out += "n" + number(id) + " [label=\"" + label(line) + "\"" +
         std::string(look_of(line)) + ", tooltip=\"" +
         dot_text(input.text().substr(0, 1000)) + "\"];";
  for (size_t i = 0; i < depth; ++i) out += " }";
  out += '\n';
  write(out);
}

// A line that only gives a value another name and has no signal belongs to the
// scope that made the value: otherwise all scopes would meet at that op.
ScopeGraph::Scope Graph::scope_of(const Subject& subject) {
  const Line& line = *subject.line;
  const Op* op = find_op(line.op);
  const bool is_name = op != nullptr && op->row->alias &&
                       !line.operands.empty() && subject.signal.empty();
  if (is_name) {
    const auto it = definitions_.find(line.operands[0].text);
    if (it != definitions_.end()) return it->second.front().scope;
  }
  return scopes_.add(subject.signal, line.op, line.note("bwd") != nullptr);
}

// Returns a node's text: "sum axis=1", then "y@0-3 f32[128]" for each result.
std::string Graph::label(const Line& line) const {
  std::string first(line.op);
  for (const Operand& operand : line.operands) {
    if (operand.kind == Operand::Kind::kName) continue;
    first += ' ';
    first += operand.text;
    if (first.size() > kMaxLabel) break;
  }
  for (const Key& key : line.keys) {
    first += ' ';
    first += key.key;
    first += '=';
    first += key.value;
  }
  if (first.size() > kMaxLabel) first = first.substr(0, kMaxLabel - 3) + "...";
  std::string out = dot_text(first);
  const bool typed = std::any_of(
      line.operands.begin(), line.operands.end(),
      [](const Operand& o) { return o.kind == Operand::Kind::kType; });
  for (const Name& name : line.results) {
    std::string second;
    append_named(second, name.text, name.ranks);
    const Type* type = typed ? nullptr : typing_.type_of(name);
    if (type != nullptr) {
      second += ' ';
      second += to_string(*type);
    }
    out += "\\n" + dot_text(second);
  }
  return out;
}

// Opens the boxes of the signal, nested as its name is. Each line opens its
// own, and Graphviz joins those with the same name.
std::string Graph::open_clusters(std::string_view signal, size_t& depth) {
  std::string out = "  ";
  for (size_t at = 0; at < signal.size();) {
    const size_t end = std::min(signal.find('/', at), signal.size());
    const std::string_view scope = signal.substr(0, end);
    const auto it = clusters_.try_emplace(std::string(scope), clusters_.size());
    out += "subgraph cluster_" + number(it.first->second) + " { ";
    if (it.second) {
      out += "label=\"" + dot_text(signal.substr(at, end - at)) +
             "\"; style=\"rounded,filled\"; color=\"#c3ccd6\"; "
             "fillcolor=\"#0b5fa50c\"; fontcolor=\"#3a6ea5\"; ";
    }
    ++depth;
    at = end + 1;
  }
  return out;
}

void Graph::edges(const Line& line, size_t to, ScopeGraph::Scope scope) {
  for (const Operand& operand : line.operands) {
    if (operand.kind != Operand::Kind::kName) continue;
    const std::vector<int64_t> ranks = ranks_of(operand.ranks);
    const auto it = definitions_.find(operand.text);
    bool found = false;
    if (it != definitions_.end()) {
      for (const Definition& definition : it->second) {
        if (!meet(definition.ranks, ranks)) continue;
        edge(definition.node, to, operand);
        scopes_.connect(definition.scope, scope);
        found = true;
      }
    }
    if (!found) edge(outside(operand.text, ranks), to, operand);
  }
}

void Graph::edge(size_t from, size_t to, const Operand& operand) {
  std::string named;
  append_named(named, operand.text, operand.ranks);
  write("  n" + number(from) + " -> n" + number(to) + " [label=\"" +
        dot_text(named) + "\"];\n");
}

// Adds a node for a name that no drawn line defines.
size_t Graph::outside(std::string_view name,
                      const std::vector<int64_t>& ranks) {
  const size_t id = nodes_++;
  write("  n" + number(id) + " [label=\"" + dot_text(name) +
        "\", shape=ellipse, style=dashed];\n");
  definitions_[std::string(name)].push_back(
      {ranks, id, scopes_.add("", "outside", false)});
  return id;
}

void Graph::define(const Name& name, size_t node, ScopeGraph::Scope scope) {
  remove(name.text, ranks_of(name.ranks));
  auto it = definitions_.find(name.text);
  if (it == definitions_.end()) {
    it = definitions_.try_emplace(std::string(name.text)).first;
  }
  it->second.push_back({ranks_of(name.ranks), node, scope});
}

// Removes the name's pieces on these ranks; without ranks, the whole name.
void Graph::remove(std::string_view name, const std::vector<int64_t>& ranks) {
  const auto it = definitions_.find(name);
  if (it == definitions_.end()) return;
  std::vector<Definition> left;
  for (const Definition& old : it->second) {
    if (ranks.empty() || old.ranks.empty()) continue;
    Definition rest{{}, old.node, old.scope};
    std::set_difference(old.ranks.begin(), old.ranks.end(), ranks.begin(),
                        ranks.end(), std::back_inserter(rest.ranks));
    if (!rest.ranks.empty()) left.push_back(std::move(rest));
  }
  if (left.empty()) {
    definitions_.erase(it);
  } else {
    it->second = std::move(left);
  }
}

void Graph::forget(const Line& line) {
  for (const Operand& operand : line.operands) {
    if (operand.kind != Operand::Kind::kGlob) {
      remove(operand.text, ranks_of(operand.ranks));
      continue;
    }
    std::erase_if(definitions_, [&operand](const auto& item) {
      return glob_matches(operand.text, item.first);
    });
  }
}

}  // namespace gt::log
