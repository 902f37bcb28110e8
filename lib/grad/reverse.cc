#include "grad/reverse.h"

#include <algorithm>

#include "grad/history.h"
#include "grad/node_gradient.h"
#include "grad/wide_products.h"
#include "spmd/placed.h"
#include "spmd/stated.h"
#include "stream/ranks.h"

namespace gt::grad {
namespace {

class Reverse {
 public:
  Reverse(const Tape& tape, ValueTypes& types, const MeshIds& meshes,
          const GradientQuestion& question)
      : tape_(tape),
        types_(types),
        meshes_(meshes),
        question_(question),
        history_(find_history(tape, question.loss, question.targets)),
        lines_(tape, types, meshes, program_),
        gradients_(tape, lines_),
        pass_{tape_, history_, lines_, gradients_} {}

  GradientProgram run() {
    if (history_.wanted.count(question_.loss) > 0) {
      seed();
      for (const NodeId node : history_.nodes) visit(node);
    }
    lines_.set_notes({});
    for (const GradientTarget& target : question_.targets) {
      program_.targets.push_back(gradient_of(target));
    }
    widen_products(types_, program_);
    program_.history = std::move(history_.nodes);
    return std::move(program_);
  }

 private:
  // Makes the gradient of the loss. The loss is one number on each of its
  // ranks, and valid only if it is P or I on every axis; the gradient of an I
  // is an I.
  void seed() {
    const TypeId type = tape_.type(question_.loss);
    const LinePlace place{question_.ranks, question_.mesh};
    const Ranks ranks = ascending(place.ranks);
    Placement claim;
    for (const AxisType& a : restricted(lines_.letters(type), ranks).axes) {
      if (a.letter == 'I') claim.set(a.axis, 'I');
    }
    const Handle one =
        lines_.add("ones", {GradientLines::text(to_string(types_[type]))}, {},
                   place, claim);
    gradients_.add(question_.loss, GradientLines::handle(one), ranks,
                   place.mesh);
  }

  Handle gradient_of(const GradientTarget& target) {
    std::vector<HandleOnRanks> found;
    Ranks rest = target.ranks;
    for (const ValueOnRanks& part : target.parts) {
      if (target.ranks.empty() && gradients_.has(part.value)) {
        return gradients_.parts(part.value)[0].handle;
      }
      for (const HandleOnRanks& g : gradients_.parts(part.value)) {
        const Ranks both = common(g.ranks, part.ranks);
        if (both.empty()) continue;
        rest = without(rest, both);
        const auto same = std::find_if(
            found.begin(), found.end(),
            [&](const HandleOnRanks& f) { return f.handle == g.handle; });
        if (same == found.end()) {
          found.push_back({g.handle, both});
        } else {
          same->ranks = together(same->ranks, both);
        }
      }
    }
    if (found.empty()) return kNil;
    const Handle first = found[0].handle;
    if (found.size() == 1 && rest.empty() &&
        types_.ranks(program_.handle_types[first]) == target.ranks) {
      return first;
    }
    const auto zero = [&](int64_t rank) {
      for (const ValueOnRanks& part : target.parts) {
        if (includes(part.ranks, {rank})) {
          return types_.on(tape_.type(part.value), rank);
        }
      }
      return Type{};
    };
    return lines_.join(found, rest, zero, {}, {target.ranks, question_.mesh});
  }

  // A node while its gradient is made.
  struct Visit {
    Node node;
    const Line& line;           // its instruction
    std::vector<bool> reached;  // its results that have a gradient
    LineRanks where = {};       // if it has ranks
    Call call = {};
  };

  void visit(NodeId id) {
    Visit v{tape_.node(id), tape_.line(id), {}};
    const Node& n = v.node;
    for (const ValueId r : n.results) {
      v.reached.push_back(r != kNil && gradients_.has(r));
    }
    if (std::find(v.reached.begin(), v.reached.end(), true) ==
            v.reached.end() ||
        !program_.possible.ok()) {
      return;
    }
    lines_.set_notes(n.form->notes);
    gradients_.begin_node();
    if (is_placed(v.line)) {
      visit_placed(v);
    } else {
      visit_unplaced(v);
    }
    for (const ValueId r : n.results) {
      if (r != kNil && history_.targets.count(r) == 0) gradients_.erase(r);
    }
  }

  // Binds the node's call again, from its text and the operands' types.
  void visit_unplaced(Visit& visit) {
    const Node& n = visit.node;
    std::vector<const Type*> types;
    for (const ValueId v : n.operands) {
      types.push_back(v == kNil ? nullptr : &types_[tape_.type(v)]);
    }
    GT_CHECK(gt::bind(visit.line, types, visit.call).ok());
    NodeGradient(pass_, n, visit.call, {})
        .write({{{},
                 gradient_steps(visit.call, &visit.reached),
                 visit.call.results}});
  }

  // ---- nodes on ranks -------------------------------------------------------

  void visit_placed(Visit& visit) {
    const Node& n = visit.node;
    if (n.op == &pieces_op()) return visit_pieces(visit);
    auto found = line_ranks(visit.line);
    GT_CHECK(found.ok());
    visit.where = std::move(found.value());
    if (!crosses_ranks(visit.line, visit.where)) return visit_local(visit);
    if (n.op->row->collective == Collective::kCopy) return visit_copy(visit);
    const std::vector<const Type*> none(visit.line.operands.size(), nullptr);
    GT_CHECK(bind_form(visit.line, none, visit.call).ok());
    std::vector<StepGroup> groups = crossing_groups(visit);
    NodeGradient(pass_, n, visit.call, {visit.where.ranks, n.form->mesh})
        .write(std::move(groups));
  }

  bool is_wanted(ValueId v) const {
    return v != kNil && history_.wanted.count(v) > 0 &&
           tape_.is_differentiable(v);
  }

  // Splits the gradient of a value that was joined from pieces.
  void visit_pieces(const Visit& visit) {
    const Node& n = visit.node;
    const std::vector<HandleOnRanks> parts = gradients_.parts(n.results[0]);
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const ValueId v = n.operands[i];
      if (!is_wanted(v)) continue;
      const Ranks ranks = parse_ranks(visit.line.operands[i].ranks).value();
      for (const HandleOnRanks& part : parts) {
        const Ranks both = common(part.ranks, ranks);
        if (both.empty()) continue;
        gradients_.add(v, GradientLines::handle(part.handle), both,
                       n.form->mesh);
      }
    }
  }

  // Copies the gradient back from set to set, or brings the sum over all ranks
  // to the one that they were copied from.
  void visit_copy(const Visit& visit) {
    const Node& n = visit.node;
    const ValueId v = n.operands[0];
    if (!is_wanted(v)) return;
    const std::vector<int64_t>& from = visit.where.operands[0];
    const std::vector<int64_t>& to = visit.where.ranks;
    const LinePlace there{to, n.form->mesh};
    const LinePlace here{from, n.form->mesh};
    GradientOperand dy =
        GradientLines::handle(gradients_.read(n.results[0], there));
    dy.ranks = to_string(to);
    if (from.size() < to.size()) {
      const auto at = std::find(to.begin(), to.end(), from[0]);
      GradientLines::Keys root;
      if (at != to.end() && at != to.begin()) {
        root = {{"root", std::to_string(at - to.begin())}};
      }
      dy = GradientLines::handle(lines_.add("reduce", {dy}, root, there));
      if (at != to.end()) return gradients_.add(v, dy, from, here.mesh);
      dy.ranks = std::to_string(to[0]);
    }
    const Handle dx = lines_.add("copy", {dy}, {}, here);
    gradients_.add(v, GradientLines::handle(dx), ascending(from), here.mesh);
  }

  // Makes a step group for each group of the collective, since rows may need
  // the sizes of its pieces. Groups whose text is equal share their lines.
  std::vector<StepGroup> crossing_groups(Visit& visit) {
    const Node& n = visit.node;
    std::vector<StepGroup> steps;
    const auto grid =
        grid_of(visit.line, meshes_[n.form->mesh], visit.where.ranks);
    GT_CHECK(grid.ok());
    const auto groups = grid.value().groups(unquote(visit.call.key("over")));
    GT_CHECK(groups.ok());
    const TypeId type = tape_.type(n.operands[0]);
    for (const std::vector<uint32_t>& members : groups.value()) {
      visit.call.pieces.clear();
      std::vector<int64_t> ranks;
      for (const uint32_t p : members) {
        ranks.push_back(visit.where.ranks[p]);
        visit.call.pieces.push_back(types_.on(type, visit.where.ranks[p]));
      }
      steps.push_back(
          {std::move(ranks), gradient_steps(visit.call, &visit.reached), {}});
    }
    return steps;
  }

  // Visits the ranks that have a gradient, each by itself. With split= it
  // visits all, since split= is about the whole set.
  void visit_local(Visit& visit) {
    const Node& n = visit.node;
    const auto grid =
        grid_of(visit.line, meshes_[n.form->mesh], visit.where.ranks);
    GT_CHECK(grid.ok());
    const auto plan = local_plan(visit.line, grid.value());
    GT_CHECK(plan.ok());
    Ranks covered;
    for (const ValueId r : n.results) {
      if (r != kNil) covered = together(covered, gradients_.ranks(r));
    }
    const bool all = plan.value().has_split;
    LinePlace place{{}, n.form->mesh};
    std::vector<StepGroup> groups;
    std::vector<std::pair<uint32_t, std::vector<const Type*>>> classes;
    for (size_t p = 0; p < visit.where.ranks.size(); ++p) {
      const int64_t rank = visit.where.ranks[p];
      if (!all && !std::binary_search(covered.begin(), covered.end(), rank)) {
        continue;
      }
      place.ranks.push_back(rank);
      const uint32_t variant = plan.value().variant_of[p];
      std::vector<const Type*> types;
      for (const ValueId v : n.operands) {
        types.push_back(v == kNil ? nullptr : &types_.on(tape_.type(v), rank));
      }
      const size_t c = class_of(classes, variant, types);
      if (c == groups.size()) {
        classes.emplace_back(variant, types);
        groups.push_back(make_group(visit, plan.value(), variant, types));
      }
      groups[c].ranks.push_back(rank);
    }
    if (all) state_split(visit, groups);
    NodeGradient(pass_, n, visit.call, place).write(std::move(groups));
  }

  static size_t class_of(
      const std::vector<std::pair<uint32_t, std::vector<const Type*>>>& classes,
      uint32_t variant, const std::vector<const Type*>& types) {
    for (size_t c = 0; c < classes.size(); ++c) {
      const bool same =
          classes[c].first == variant &&
          std::equal(types.begin(), types.end(), classes[c].second.begin(),
                     [](const Type* a, const Type* b) {
                       return a == b ||
                              (a != nullptr && b != nullptr && *a == *b);
                     });
      if (same) return c;
    }
    return classes.size();
  }

  // True if the dimensions before the last can be merged into one, both in what
  // the line reads and in what it makes.
  bool folds(const Node& n) const {
    const auto fits = [this](ValueId v) { return v == kNil || folds(v); };
    return (n.operands.empty() || fits(n.operands[0])) &&
           std::all_of(n.results.begin(), n.results.end(), fits);
  }

  // True if no dimension is cut except the first and the last, and all ranks
  // have the same number of indices of these, and more than one.
  bool folds(ValueId v) const {
    const PlacedType& type = types_.placed(tape_.type(v));
    if (!type.global || !type.global->is_sharded()) return true;
    const auto& spec = type.global->spec;
    if (spec.size() < 2) return true;
    if (type.types.size() > 1) return false;
    for (size_t d = 0; d < spec.size(); ++d) {
      if (spec[d].empty()) continue;
      const bool is_end = d == 0 || d + 1 == spec.size();
      if (!is_end || type.types[0].shape[d] == 1) return false;
    }
    return true;
  }

  StepGroup make_group(Visit& visit, const LocalPlan& plan, uint32_t variant,
                       const std::vector<const Type*>& types) {
    GT_CHECK(bind_local(plan, variant, types, visit.call).ok());
    visit.call.folds = folds(visit.node);
    return {{}, gradient_steps(visit.call, &visit.reached), visit.call.results};
  }

  // Binds the node's call as one device would make it. False if the whole of
  // some operand is not known.
  bool bind_whole(Visit& visit, Line& line) const {
    const Node& n = visit.node;
    std::vector<std::optional<Type>> wholes;
    std::vector<const Type*> types;
    wholes.reserve(n.operands.size());
    for (const ValueId v : n.operands) {
      types.push_back(nullptr);
      if (v == kNil) continue;
      wholes.push_back(lines_.whole(tape_.type(v)));
      if (!wholes.back()) return false;
      types.back() = &*wholes.back();
    }
    line = whole_line(visit.line, *n.op);
    return gt::bind(line, types, visit.call).ok();
  }

  // The gradient lines have ranks as well. If a step takes split=, it states
  // split= and the whole's sizes as the forward line did, once for all ranks,
  // and not which part each rank has.
  void state_split(Visit& visit, std::vector<StepGroup>& groups) {
    Line whole_of_node;  // the call has views into it from here on
    if (!bind_whole(visit, whole_of_node)) return;
    for (const std::string_view name : {"split", "shape"}) {
      const int key = visit.call.op->key_index(name);
      const std::string_view* value = visit.line.key(name);
      if (key < 0 || value == nullptr) continue;
      visit.call.key_values[static_cast<size_t>(key)] = *value;
    }
    const std::vector<Step> whole = gradient_steps(visit.call, &visit.reached);
    for (size_t s = 0; s < whole.size(); ++s) {
      const auto& keys = whole[s].keys;
      const bool splits = std::any_of(keys.begin(), keys.end(), [](auto& key) {
        return key.first == "split";
      });
      if (!splits) continue;
      for (StepGroup& group : groups) {
        const bool has = s < group.steps.size();
        if (has && group.steps[s].op == whole[s].op) group.steps[s].keys = keys;
      }
    }
  }

  const Tape& tape_;
  ValueTypes& types_;
  const MeshIds& meshes_;
  const GradientQuestion& question_;
  GradientProgram program_;
  History history_;
  GradientLines lines_;
  Contributions gradients_;
  const Pass pass_;
};

}  // namespace

GradientProgram reverse(const Tape& tape, ValueTypes& types,
                        const MeshIds& meshes, const GradientQuestion& question,
                        LostTarget& lost) {
  if (find_lost(tape, question.loss, question.targets, lost)) return {};
  return Reverse(tape, types, meshes, question).run();
}

}  // namespace gt::grad
