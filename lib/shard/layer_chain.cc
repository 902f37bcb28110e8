#include "shard/layer_chain.h"

#include <algorithm>
#include <map>

#include "ops/table.h"
#include "shard/scheduler.h"
#include "spmd/placed.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr size_t kMostScopes = 512;

// Returns the scopes of the line's signal, the outermost first.
std::vector<std::string> scopes_of(const Line& line) {
  std::vector<std::string> out;
  const std::string_view* note = line.note("signal");
  if (note == nullptr) return out;
  std::string path = unquote(*note);
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    out.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

// Which scopes read what others made, in the forward part of a step.
class ScopeGraph {
 public:
  // Returns false if no further line matters.
  bool take(const Line& line) {
    if (line.note("bwd") != nullptr) return false;
    std::vector<std::string> scopes = scopes_of(line);
    size_t at = kNone;
    if (!scopes.empty()) {
      at = number_of(scopes[0]);
      inner_.insert(scopes.begin() + 1, scopes.end());
    }
    for (const Operand& o : line.operands) {
      if (o.kind != Operand::Kind::kName) continue;
      const auto made = makers_.find(std::string(o.text));
      if (made == makers_.end() || made->second == kNone) continue;
      if (at == kNone) at = made->second;
      reads_[at].insert(made->second);
    }
    for (const Name& result : line.results) {
      makers_[std::string(result.text)] = at;
    }
    return names_.size() <= kMostScopes;
  }

  std::vector<LayerScopes> layers() {
    const size_t n = names_.size();
    const bool is_ambiguous = std::ranges::any_of(
        names_, [&](const std::string& name) { return inner_.contains(name); });
    if (is_ambiguous || n > kMostScopes) return {};
    close();
    std::vector<LayerScopes> out;
    std::vector<bool> is_taken(n, false);
    // Each time the first scope that reads from no other that is left, with
    // those that it reads from and that read from it.
    for (size_t left = n; left > 0;) {
      for (size_t i = 0; i < n; ++i) {
        if (is_taken[i] || !is_next(i, is_taken)) continue;
        LayerScopes& layer = out.emplace_back();
        for (size_t j = 0; j < n; ++j) {
          if (j != i && (!reaches_[i][j] || !reaches_[j][i])) continue;
          layer.push_back(names_[j]);
          is_taken[j] = true;
          --left;
        }
        break;
      }
    }
    return out;
  }

 private:
  size_t number_of(const std::string& name) {
    const auto [it, is_new] = numbers_.try_emplace(name, names_.size());
    if (is_new) {
      names_.push_back(name);
      reads_.emplace_back();
    }
    return it->second;
  }

  // Finds from which scopes each reads, also by way of others (Warshall).
  void close() {
    const size_t n = names_.size();
    reaches_.assign(n, std::vector<bool>(n, false));
    for (size_t i = 0; i < n; ++i) {
      for (const size_t from : reads_[i]) reaches_[i][from] = true;
    }
    for (size_t via = 0; via < n; ++via) {
      for (size_t i = 0; i < n; ++i) {
        if (!reaches_[i][via]) continue;
        for (size_t j = 0; j < n; ++j) {
          if (reaches_[via][j]) reaches_[i][j] = true;
        }
      }
    }
  }

  bool is_next(size_t i, const std::vector<bool>& is_taken) const {
    for (size_t j = 0; j < names_.size(); ++j) {
      if (reaches_[i][j] && !reaches_[j][i] && !is_taken[j]) return false;
    }
    return true;
  }

  std::map<std::string, size_t> numbers_;
  std::vector<std::string> names_;
  std::vector<std::set<size_t>> reads_;
  std::map<std::string, size_t> makers_;  // of names: the scope, or kNone
  std::set<std::string> inner_;
  std::vector<std::vector<bool>> reaches_;
};

}  // namespace

std::vector<LayerScopes> layers_of(const std::vector<std::string>& lines) {
  ScopeGraph graph;
  for (const std::string& text : lines) {
    Line line;
    if (!parse_line(text, line).ok()) continue;
    if (line.kind == Line::Kind::kInstruction && !graph.take(line)) break;
  }
  return graph.layers();
}

// ---- what layers take -------------------------------------------------------

LayerCosts::LayerCosts(const std::vector<LayerScopes>& layers,
                       const Machine& machine)
    : sizes_(machine), costs_(layers.size()) {
  for (size_t i = 0; i < layers.size(); ++i) {
    for (const std::string& scope : layers[i]) scopes_[scope] = i;
  }
}

void LayerCosts::take(const std::string& lines, double times) {
  std::string_view rest = lines;
  Line line;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (parse_line(rest.substr(0, end), line).ok() &&
        line.kind == Line::Kind::kInstruction) {
      take_line(line, times);
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// Returns kNone for a line of no layer. Then the first layer that reads its
// result gets that.
size_t LayerCosts::layer_of(const Line& line) {
  size_t layer = kNone;
  if (const auto scopes = scopes_of(line); !scopes.empty()) {
    const auto found = scopes_.find(scopes[0]);
    if (found != scopes_.end()) layer = found->second;
  }
  for (const Operand& o : line.operands) {
    const auto held = held_.find(std::string(o.text));
    if (held == held_.end()) continue;
    if (layer == kNone) layer = held->second.layer;
    if (held->second.layer == kNone) held->second.layer = layer;
  }
  return layer;
}

void LayerCosts::take_line(const Line& line, double times) {
  const auto where = line_ranks(line);
  if (!where.ok()) return;
  if (!at_backward_ && line.note("bwd") != nullptr) at_backward_ = held_;
  const LineSize size = sizes_.take(line, where.value());
  if (statement_of(line.op) == Statement::kFree) {
    for (const Operand& o : line.operands) held_.erase(std::string(o.text));
    return;
  }
  const size_t layer = layer_of(line);
  // Sums of gradients travel while the rest of the backward is computed.
  const bool is_hidden =
      line.note("grad") != nullptr && crosses_ranks(line, where.value());
  if (layer != kNone && !is_hidden) {
    costs_[layer].seconds += times * size.seconds;
  }
  for (size_t r = 0; r < line.results.size(); ++r) {
    const auto most = std::ranges::max_element(size.bytes[r]);
    const bool is_known = most != size.bytes[r].end();
    Held& held = held_[std::string(line.results[r].text)];
    held = {layer, is_known ? static_cast<double>(*most) : 0};
    add_gradient(line, held);
  }
}

// The gradients of all microbatches are added up, so each weight has one.
void LayerCosts::add_gradient(const Line& line, const Held& held) {
  const std::string_view* target = line.note("grad");
  if (target == nullptr || held.layer == kNone) return;
  if (!with_gradient_.insert(unquote(*target)).second) return;
  costs_[held.layer].kept += held.bytes;
}

// What names hold at the end of a step they hold at the end of the next.
void LayerCosts::end_step() {
  for (const auto& [name, held] : held_) {
    if (held.layer != kNone) costs_[held.layer].kept += held.bytes;
  }
  if (!at_backward_) return;
  for (const auto& [name, held] : *at_backward_) {
    if (held.layer == kNone || held_.contains(name)) continue;
    costs_[held.layer].open += held.bytes;
  }
}

}  // namespace gt::shard
