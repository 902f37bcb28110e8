// Lines as text: operands are brought into the layouts that were chosen, and
// names get their ranks.
#include <algorithm>

#include "ops/families.h"
#include "ops/shape_rules.h"
#include "shard/partitioner.h"

namespace gt {
namespace {

bool is_tensor(const Argument& a) {
  return a.role == Role::kTensor && !a.absent && !a.literal;
}

bool is_local(const std::vector<Move>& moves) {
  return std::all_of(moves.begin(), moves.end(),
                     [](const Move& move) { return move.op == "convert"; });
}

// An optimizer's weight stays one; so does another name or dtype of it.
bool makes_source(const Call& call, const ShardValuePtr& first) {
  const Op& op = *call.op;
  const bool keeps = op.family == &kOptimizers || op.name == "copy" ||
                     op.name == "detach" || op.name == "cast" ||
                     op.name == "slice" || op.name == "gather";
  return keeps && first != nullptr && first->is_source;
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

void Partitioner::write_planned(Work& work) {
  const Call& call = work.call;
  std::vector<std::string> operands(work.line.operands.size());
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    const auto o = static_cast<size_t>(call.arguments[i].operand);
    operands[o] = fetch(work.values[o], work.plan.arguments[i],
                        reason(work.line, "needs it so"));
  }
  for (const Name& name : work.line.results) {
    keep_for_readers(std::string(name.text));
  }
  take_all_of_parts(
      call, work.plan.arguments.empty() ? Layout{} : work.plan.arguments[0],
      operands);
  Writing how = writing(call, work.plan);
  if (work.scope.compile.value_or(false) &&
      work.line.note("compile") == nullptr) {
    how.notes += " #compile";
  }
  write(work.line, operands, how);
  costs_.seconds += work_seconds(cluster_, config_.machine(), call, work.plan);
  ShardValuePtr first;
  for (const ShardValuePtr& value : work.values) {
    if (value == nullptr) continue;
    if (first == nullptr) first = value;
    drop_copies(*value);
  }
  passing_names_.clear();
  for (size_t r = 0; r < work.line.results.size(); ++r) {
    const std::string name(work.line.results[r].text);
    const auto made = std::make_shared<ShardValue>();
    made->type = call.results[r];
    made->copies = {{work.plan.results[r], ""}};
    made->is_source = makes_source(call, first);
    unbind(name);
    bind(name, made);
  }
  if (work.pin && !(work.plan.results[0] == *work.pin)) {
    change(find(work.line.results[0].text), *work.pin, "results: of the scope");
  }
  reduce_gradients(work);
}

// A gradient is summed where it stands, so that the sum overlaps with what
// follows; of a microbatch it stays summands, which accumulate.
void Partitioner::reduce_gradients(const Work& work) {
  if (work.line.note("mb") != nullptr) return;
  std::vector<std::string> targets;
  for (const Note& note : work.line.notes) {
    if (note.key == "grad") targets.emplace_back(unquote(note.value));
  }
  if (targets.empty()) return;
  // The last results are the targets' gradients; what comes before is not.
  std::vector<std::string> made;
  for (const Name& name : work.line.results) {
    const size_t slash = name.text.rfind('/');
    const std::string_view base =
        slash == name.text.npos ? name.text : name.text.substr(slash + 1);
    if (!base.starts_with('_')) made.emplace_back(name.text);
  }
  for (size_t i = 0; i < made.size(); ++i) {
    const ShardValuePtr value = find(made[i]);
    if (value == nullptr || value->held != nullptr || value->is_failed)
      continue;
    Layout wanted = value->copies[0].layout;
    if (wanted.partial == 0) continue;
    wanted.partial = 0;
    std::string why = "the gradient is summed";
    const ShardValuePtr target =
        made.size() == targets.size() ? find(targets[i]) : nullptr;
    if (target != nullptr) why = "the gradient of " + targets[i] + " is summed";
    if (target != nullptr && target->held == nullptr && !target->is_failed &&
        target->type.shape == value->type.shape &&
        target->copies[0].layout.partial == 0 &&
        target->copies[0].layout.set == wanted.set) {
      const Layout& own = target->copies[0].layout;
      const bool keeps = std::all_of(
          wanted.cuts.begin(), wanted.cuts.end(), [&](const AxisCut& cut) {
            const AxisCut* there = own.cut_of(cut.axis);
            return there != nullptr && *there == cut;
          });
      if (keeps) wanted = own;
    }
    change(value, wanted, why);
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
  const std::vector<Move> way =
      moves(cluster_, config_.machine(), value->type, layouts[from], wanted);
  if (way.empty()) return value->name_of(value->copies[from]);
  const bool is_only =
      value->names.size() + (value->hidden.empty() ? 0 : 1) == 1;
  if (from == 0 && is_only && layouts[0].partial != 0 && wanted.partial == 0) {
    change(value, wanted, why);
    return value->own_name();
  }
  const std::string name = new_name();
  write_moves(way, name, value->name_of(value->copies[from]), why);
  value->copies.push_back({wanted, name});
  const bool keeps = !is_local(way) && !config_.regather();
  if (!keeps) passing_names_.push_back(name);
  return name;
}

// The value's own registers take the layout.
void Partitioner::change(const ShardValuePtr& value, const Layout& wanted,
                         const std::string& why) {
  const std::vector<Move> way = moves(cluster_, config_.machine(), value->type,
                                      value->copies[0].layout, wanted);
  const std::string name = value->own_name();
  const uint32_t before = value->copies[0].layout.set;
  write_moves(way, name, name, why);
  value->copies[0].layout = wanted;
  GT_CHECK(before == wanted.set);
}

void Partitioner::write_moves(const std::vector<Move>& moves,
                              const std::string& to, std::string from,
                              const std::string& why) {
  declare_mesh();
  uint32_t set = moves.empty() ? 0 : moves[0].after.set;
  bool is_first = true;
  std::vector<std::pair<std::string, uint32_t>> left;
  for (const Move& move : moves) {
    const std::string ranks = "@" + cluster_.ranks_text(move.after.set);
    const bool crosses = !move.source_ranks.empty();
    if (!is_first && move.after.set != set) left.emplace_back(to, set);
    set = move.after.set;
    *out_ += to + ranks + " = " + move.op + " " + from +
             (crosses ? "@" + move.source_ranks : ranks) + move.keys + notes_ +
             " #why=" + quote(why) + "\n";
    from = to;
    is_first = false;
    ShardCosts::Traffic& traffic = costs_.traffic[move.op];
    ++traffic.lines;
    traffic.bytes += move.bytes;
    costs_.seconds += move.seconds;
  }
  // What was only on the way, on ranks of before.
  for (const auto& [name, ranks] : left) {
    *out_ += "free " + name + "@" + cluster_.ranks_text(ranks) + "\n";
  }
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
  const bool looks_up = op.name == "gather" || op.name == "scatter_add" ||
                        op.name.starts_with("embedding");
  if (layout.cuts.empty() || (looks_up && !plan.looks_up)) return how;
  how.keys = " split=" + cluster_.split_text(layout);
  if (op.family == &kCreation) return how;  // their types are the whole's
  const int shape = op.key_index("shape");
  if (shape >= 0 && op.keys[static_cast<size_t>(shape)].required) {
    how.shape = list_text(whole);
  } else {
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
  if (!meshes_.insert(space_).second) return;
  *out_ += "mesh " + cluster_.mesh().describe();
  if (!space_.empty()) {
    *out_ += " space=" + space_.substr(0, space_.size() - 1);
  }
  *out_ += '\n';
}

}  // namespace gt
