// Lines as text: operands are brought into the layouts that were chosen, and
// names get their ranks.
#include <algorithm>

#include "ops/families.h"
#include "ops/part.h"
#include "ops/shape_rules.h"
#include "ops/table.h"
#include "shard/partitioner.h"
#include "stream/ranks.h"

namespace gt {
namespace {

bool is_local(const std::vector<Move>& moves) {
  return std::all_of(moves.begin(), moves.end(), [](const Move& move) {
    return collective_of(move.op) == Collective::kConvert;
  });
}

// An optimizer's weight stays one; so does another name or dtype of it.
bool makes_source(const Call& call, const ShardValuePtr& first) {
  return call.op->row->lineage != Lineage::kNew && first != nullptr &&
         first->is_source;
}

// A range that takes all of a dimension that is cut.
void take_all_of_parts(const Call& call, const Layout& layout,
                       std::vector<std::string>& operands) {
  if (call.op->name != "slice") return;
  for (const AxisCut& cut : layout.cuts) {
    const auto i = static_cast<size_t>(cut.dim) + 1;
    if (i >= call.arguments.size()) continue;
    const Argument& a = call.arguments[i];
    if (a.role == Role::kRange) {
      operands[static_cast<size_t>(a.operand)] = ":";
    }
  }
}

std::string reason(const Line& line, const char* what) {
  return std::string(line.op) + " " + what;
}

}  // namespace

// Then no operand may change its register in place.
void Partitioner::mark_read_twice(const Work& work) {
  std::map<ShardValue*, const Layout*> wanted;
  for (size_t i = 0; i < work.call.arguments.size(); ++i) {
    if (!is_tensor(work.call.arguments[i])) continue;
    ShardValue* value =
        work.values[static_cast<size_t>(work.call.arguments[i].operand)].get();
    const Layout* layout = &work.plan().arguments[i];
    const auto [it, is_new] = wanted.try_emplace(value, layout);
    if (is_new) value->is_read_twice = false;
    value->is_read_twice |= !(*it->second == *layout);
  }
}

void Partitioner::write_planned(Work& work) {
  const Call& call = work.call;
  const Plan& plan = work.plan();
  std::vector<std::string> operands(work.line.operands.size());
  mark_read_twice(work);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    const auto o = static_cast<size_t>(call.arguments[i].operand);
    operands[o] = fetch(work.values[o], plan.arguments[i],
                        reason(work.line, "needs it so"));
  }
  for (const Name& name : work.line.results) {
    keep_for_readers(std::string(name.text));
  }
  take_all_of_parts(call, plan.arguments.empty() ? Layout{} : plan.arguments[0],
                    operands);
  std::vector<Type> types(call.results.begin(), call.results.end());
  if (plan.sums_halves) types = widen(work, operands);
  Writing how = writing(call, plan);
  if (work.scope.compile.value_or(false) &&
      work.line.note("compile") == nullptr) {
    how.notes += " #compile";
  }
  write(without_early_notes(work), operands, how);
  costs_.seconds += work_seconds(cluster_, config_.machine(), call, plan);
  ShardValuePtr first;
  for (const ShardValuePtr& value : work.values) {
    if (value == nullptr) continue;
    if (first == nullptr) first = value;
    drop_copies(value);
  }
  passing_names_.clear();
  for (size_t r = 0; r < work.line.results.size(); ++r) {
    holds(std::string(work.line.results[r].text), plan.results[r], types[r]);
  }
  line_ends();
  for (size_t r = 0; r < work.line.results.size(); ++r) {
    const std::string name(work.line.results[r].text);
    const auto made = std::make_shared<ShardValue>();
    made->type = types[r];
    made->copies = {{plan.results[r], ""}};
    made->is_source = makes_source(call, first);
    leave(name, how.set);
    unbind(name);
    bind(name, made);
  }
  note_sum(work);
  find_extremes(work);
  settle(work);
  if (plan.sums_halves) narrow(work);
}

// The name's pieces on ranks where the line that binds it anew does not run.
void Partitioner::leave(const std::string& name, uint32_t set) {
  const ShardValuePtr before = find(name);
  if (before == nullptr || before->copies.empty()) return;
  const uint32_t old = before->copies[0].layout.set;
  if (old == set) return;
  const Ranks gone = without(cluster_.ranks(old), cluster_.ranks(set));
  if (gone.empty()) return;
  *out_ += "free " + name + "@" + to_string(gone) + "\n";
  lets_go(name, gone);
}

// Each rank has the largest of its part; all together find the largest.
void Partitioner::find_extremes(const Work& work) {
  for (const auto& [axis, what] : work.plan().extremes) {
    for (const Name& result : work.line.results) {
      const ShardValuePtr value = find(result.text);
      const Move move = extreme(cluster_, config_.machine(), value->type,
                                value->copies[0].layout, axis, what);
      write_moves({move}, value->type, value->own_name(), move.after.set,
                  value->own_name(),
                  std::string(work.line.op) + " of all parts");
    }
  }
}

// The layout, cut as the pin says; a pin without cuts says that nothing is cut.
// Cuts of other axes stay where both can be.
Layout Partitioner::pinned(Layout layout, const Layout& pin,
                           const Shape& whole) const {
  if (pin.cuts.empty()) return Layout{layout.set, 0, {}};
  for (const AxisCut& cut : pin.cuts) {
    if (cluster_.count(layout.set, cut.axis) == 1) continue;
    const AxisCut* there = layout.cut_of(cut.axis);
    if (there != nullptr && *there == cut) continue;
    layout.remove(cut.axis);
    layout.partial &= ~(1U << cut.axis);
    Layout finer = layout;
    finer.add(cut);
    if (!cluster_.can_cut(finer, whole)) {
      finer = layout;
      std::erase_if(finer.cuts, [&](const AxisCut& other) {
        return other.dim == cut.dim && pin.cut_of(other.axis) == nullptr;
      });
      finer.add(cut);
    }
    if (cluster_.can_cut(finer, whole)) layout = std::move(finer);
  }
  return layout;
}

// The results, made as the config and #grad= want them.
void Partitioner::settle(const Work& work) {
  if (work.pin) {
    const ShardValuePtr value = alone(std::string(work.line.results[0].text));
    if (value->held != nullptr) create_default(value);
    const Layout wanted =
        pinned(value->copies[0].layout, *work.pin, value->type.shape);
    if (!(value->copies[0].layout == wanted)) {
      change(value, wanted, "the config says so");
    }
  }
  settle_gradients(work);
}

// The name's value, which no other name has.
ShardValuePtr Partitioner::alone(const std::string& name) {
  const ShardValuePtr value = find(name);
  if (value->held != nullptr || value->names.size() == 1) return value;
  const auto own = std::make_shared<ShardValue>();
  own->type = value->type;
  own->is_source = value->is_source;
  own->copies = {value->copies[0]};
  std::erase(value->names, name);
  bind(name, own);
  return own;
}

// Of each result, whose gradient it is: what gt-emit did not invent, in the
// order of the notes. "" of others.
std::vector<std::string> Partitioner::gradient_targets(const Line& line) {
  std::vector<std::string> targets;
  for (const Note& note : line.notes) {
    if (note.key == "grad") targets.emplace_back(unquote(note.value));
  }
  std::vector<std::string> out(line.results.size());
  std::vector<size_t> named;
  for (size_t r = 0; r < line.results.size(); ++r) {
    const std::string_view name = line.results[r].text;
    const size_t slash = name.rfind('/');
    if (name[slash == name.npos ? 0 : slash + 1] != '_') named.push_back(r);
  }
  if (named.size() != targets.size()) return out;
  for (size_t i = 0; i < named.size(); ++i) out[named[i]] = targets[i];
  return out;
}

// Where a gradient is wanted: cut as its target is, so that an optimizer finds
// both alike, and summed, so that the sum overlaps with what follows. Of a
// microbatch it stays as it is, and accumulates.
Layout Partitioner::gradient_layout(const Work& work, const std::string& target,
                                    const Type& type,
                                    const Layout& made) const {
  Layout wanted = made;
  const bool accumulates = work.line.note("mb") != nullptr;
  if (!accumulates) wanted.partial = 0;
  const ShardValuePtr value = find(target);
  if (value == nullptr || value->held != nullptr || value->is_failed ||
      !(value->type.shape == type.shape)) {
    return wanted;
  }
  const Layout& own = value->copies[0].layout;
  const bool fits =
      std::all_of(own.cuts.begin(), own.cuts.end(), [&](const AxisCut& cut) {
        return cluster_.count(own.set, cut.axis) ==
               cluster_.count(made.set, cut.axis);
      });
  if (!fits) return wanted;
  wanted.cuts = own.cuts;
  for (size_t a = 0; a < cluster_.axes(); ++a) {
    if (wanted.is_partial(a)) wanted.remove(a);
  }
  return wanted;
}

// A line whose result is not yet what #grad= says of it leaves that note to the
// line that makes it so.
Line Partitioner::without_early_notes(const Work& work) const {
  Line line = work.line;
  const std::vector<std::string> targets = gradient_targets(line);
  for (size_t r = 0; r < targets.size(); ++r) {
    if (targets[r].empty()) continue;
    const Layout& made = work.plan().results[r];
    const Layout wanted =
        gradient_layout(work, targets[r], work.call.results[r], made);
    if (made.cuts == wanted.cuts && !work.plan().sums_halves) continue;
    std::erase_if(line.notes, [&](const Note& note) {
      return note.key == "grad" && unquote(note.value) == targets[r];
    });
  }
  return line;
}

void Partitioner::settle_gradients(const Work& work) {
  const std::vector<std::string> targets = gradient_targets(work.line);
  for (size_t r = 0; r < targets.size(); ++r) {
    const ShardValuePtr value = find(work.line.results[r].text);
    if (targets[r].empty() || value->held != nullptr) continue;
    const Layout made = value->copies[0].layout;
    const Layout wanted = gradient_layout(work, targets[r], value->type, made);
    if (made == wanted) continue;
    const bool is_noted = made.cuts == wanted.cuts || work.plan().sums_halves;
    change(alone(std::string(work.line.results[r].text)), wanted,
           "the gradient of " + targets[r],
           is_noted ? "" : " #grad=" + targets[r]);
  }
}

// ---- layouts
// -----------------------------------------------------------------

// The name of a register that holds the value in the layout.
std::string Partitioner::fetch(const ShardValuePtr& value, const Layout& wanted,
                               const std::string& why) {
  if (value->held != nullptr) create(value, made_as(value, wanted));
  std::vector<Layout> layouts;
  for (const ShardCopy& copy : value->copies) layouts.push_back(copy.layout);
  const size_t from =
      nearest_layout(cluster_, config_.machine(), value->type, layouts, wanted);
  const std::vector<Move> way = redistribution(
      cluster_, config_.machine(), value->type, layouts[from], wanted);
  if (way.empty()) return value->name_of(value->copies[from]);
  const bool is_only =
      value->names.size() + (value->hidden.empty() ? 0 : 1) == 1;
  if (from == 0 && is_only && !value->is_read_twice &&
      layouts[0].partial != 0 && wanted.partial == 0) {
    Layout summed = wanted;
    if (wanted.set != layouts[0].set) {
      summed = layouts[0];
      summed.partial = 0;
    }
    change(value, summed, why);
    return fetch(value, wanted, why);
  }
  const std::string name = new_name();
  write_moves(way, value->type, name, wanted.set,
              value->name_of(value->copies[from]), why);
  value->copies.push_back({wanted, name});
  const bool keeps = !is_local(way) && !regathers_;
  if (!keeps) passing_names_.push_back(name);
  return name;
}

// The value's own registers take the layout.
void Partitioner::change(const ShardValuePtr& value, const Layout& wanted,
                         const std::string& why, const std::string& note) {
  const std::vector<Move> way =
      redistribution(cluster_, config_.machine(), value->type,
                     value->copies[0].layout, wanted);
  const std::string name = value->own_name();
  const uint32_t before = value->copies[0].layout.set;
  write_moves(way, value->type, name, before, name, why, note);
  value->copies[0].layout = wanted;
  GT_CHECK(before == wanted.set);
}

// A register on the way may be on ranks that the target has not: it goes there.
void Partitioner::write_moves(const std::vector<Move>& moves, const Type& whole,
                              const std::string& to, uint32_t set,
                              std::string from, const std::string& why,
                              const std::string& note) {
  declare_mesh();
  Ranks left;
  for (const Move& move : moves) {
    const Ranks& ranks = cluster_.ranks(move.after.set);
    *out_ +=
        to + "@" + cluster_.ranks_text(move.after.set) + " = " +
        std::string(move.op) + " " + from + "@" + source_ranks(move, cluster_) +
        keys_of(move, cluster_, whole.shape) + notes_ +
        (&move == &moves.back() ? note : "") + " #why=" + quote(why) + "\n";
    holds(to, move.after, whole);
    line_ends();
    from = to;
    left = together(left, without(ranks, cluster_.ranks(set)));
    ShardCosts::Traffic& traffic = costs_.traffic[std::string(move.op)];
    ++traffic.lines;
    traffic.bytes += move.bytes;
    costs_.seconds += move.seconds;
  }
  if (left.empty()) return;
  *out_ += "free " + to + "@" + to_string(left) + "\n";
  lets_go(to, left);
}

// ---- text
// --------------------------------------------------------------------

// What a line says of the whole: split=, and the sizes beside it.
Partitioner::Writing Partitioner::writing(const Call& call,
                                          const Plan& plan) const {
  Writing how;
  if (!plan.results.empty()) how.set = plan.results[0].set;
  const Op& op = *call.op;
  const int split = op.key_index("split");
  if (split < 0 || plan.results.empty()) return how;
  const int subject = op.row->part_operand;
  const auto operand = static_cast<size_t>(std::max(subject, 0));
  const Layout& layout =
      subject < 0 ? plan.results[0] : plan.arguments[operand];
  const Shape& whole =
      subject < 0 ? call.results[0].shape : call.type(operand).shape;
  if (layout.cuts.empty()) return how;
  const bool creates = op.family == &kCreation;  // their types are the whole's
  const bool sized = states_sizes(op);
  if (!creates && !sized && !plan.needs_split) return how;
  how.keys = " split=" + cluster_.split_text(layout);
  if (sized) {
    how.shape = list_text(whole);
  } else if (!creates) {
    how.keys += " shape=" + list_text(whole);
  }
  return how;
}

void Partitioner::write(const Line& line,
                        const std::vector<std::string>& operands,
                        const Writing& how) {
  declare_mesh();
  const std::string& ranks = cluster_.ranks_text(how.set);
  Line placed = line;
  for (Name& name : placed.results) name.ranks = ranks;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].empty()) continue;
    Operand& operand = placed.operands[i];
    operand.text = operands[i];
    if (operand.kind == Operand::Kind::kName) operand.ranks = ranks;
  }
  for (Key& key : placed.keys) {
    if (key.key == "shape" && !how.shape.empty()) key.value = how.shape;
  }
  append_instruction(*out_, placed);
  *out_ += how.keys + how.notes;
  append_notes(*out_, placed);
  *out_ += '\n';
}

void Partitioner::declare_mesh() {
  if (has_mesh_) return;
  has_mesh_ = true;
  *out_ += "mesh " + config_.mesh().describe() + "\n";
}

}  // namespace gt
