#include "emit/recorder.h"

#include <algorithm>

#include "grad/reads.h"
#include "ops/text.h"

namespace gt::emit {
namespace {

// Returns the instruction with "r" and "x" for its names: the text that the
// history needs, which is the same for every line of a pattern.
std::string without_names(const Line& line) {
  std::string out;
  for (const Name& r : line.results) out += full_name("r", r.ranks) + " ";
  out += "= ";
  out += line.op;
  for (const Operand& o : line.operands) {
    out += ' ';
    if (o.kind == Operand::Kind::kName) {
      out += full_name("x", o.ranks);
    } else {
      out += o.text;
    }
  }
  for (const Key& key : line.keys) {
    out += ' ';
    out += key.key;
    out += '=';
    out += key.value;
  }
  return out;
}

// Calls take(reads) for each argument that a target may be behind.
template <typename Take>
void each_reachable(const Ledger& ledger, const Call& call,
                    std::span<const ValueId> operands, const Take& take) {
  const auto& reads = grad::gradient_reads(*call.op);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const int32_t operand = call.arguments[i].operand;
    if (operand < 0) continue;
    const ValueId v = operands[static_cast<size_t>(operand)];
    if (v == kNil || !ledger.tape.reachable(v)) continue;
    take(reads[call.op->parameter_of(i, call.arguments.size())]);
  }
}

}  // namespace

bool Recorder::add_results(LineState& state) const {
  const Op& op = *state.call.op;
  size_t wanted = state.call.result_count;
  if (ledger_.emitted || wanted >= op.results.size()) return false;
  each_reachable(
      ledger_, state.call, state.values, [&](const grad::GradientReads& reads) {
        for (const auto& [r, line] : reads.results) {
          if (op.results[r].optional && may_apply(*line, state.call)) {
            wanted = std::max<size_t>(wanted, r + 1);
          }
        }
      });
  std::vector<Name>& results = state.line.results;
  while (results.size() < wanted) {
    state.added_texts.push_back(ledger_.fresh_name(results[0].text));
    results.push_back({state.added_texts.back(), results[0].ranks, 0});
    ++state.added_results;
  }
  return state.added_results > 0;
}

bool Recorder::has_history(const Instruction& instruction) const {
  const auto holds_floats = [this](TypeId type) {
    return is_float(ledger_.types[type].dtype);
  };
  const auto is_value = [](ValueId v) { return v != kNil; };
  return !instruction.call.op->row->leaf &&
         std::any_of(instruction.types.begin(), instruction.types.end(),
                     holds_floats) &&
         std::any_of(instruction.operands.begin(), instruction.operands.end(),
                     is_value);
}

// Finds the operands and results whose data a gradient of the line reads.
void Recorder::find_needed(const Instruction& instruction,
                           grad::Form& form) const {
  const Call& call = instruction.call;
  std::vector<bool> operands(call.op->operands.size());
  std::vector<bool> results(call.op->results.size());
  each_reachable(ledger_, call, instruction.operands,
                 [&](const grad::GradientReads& reads) {
                   for (const auto& [p, line] : reads.operands) {
                     if (may_apply(*line, call)) operands[p] = true;
                   }
                   for (const auto& [p, line] : reads.results) {
                     if (may_apply(*line, call)) results[p] = true;
                   }
                 });
  const size_t count = call.arguments.size();
  for (size_t i = 0; i < count; ++i) {
    const int32_t operand = call.arguments[i].operand;
    if (operand < 0 || !operands[call.op->parameter_of(i, count)]) continue;
    const auto at = static_cast<uint32_t>(operand);
    if (instruction.operands[at] != kNil) form.needed_operands.push_back(at);
  }
  for (size_t r = 0; r < call.result_count; ++r) {
    if (results[call.op->result_parameter_of(r, call.result_count)]) {
      form.needed_results.push_back(static_cast<uint32_t>(r));
    }
  }
}

grad::HeldForm Recorder::record(const Instruction& instruction,
                                std::vector<ValueId>& results) const {
  grad::Tape& tape = ledger_.tape;
  const auto holds_floats = [this](TypeId type) {
    return is_float(ledger_.types[type].dtype);
  };
  if (!has_history(instruction)) {
    results.clear();
    for (const TypeId type : instruction.types) {
      results.push_back(
          tape.add_leaf(type, holds_floats(type), instruction.origin));
    }
    return {};
  }
  grad::Form form;
  form.op = instruction.call.op;
  form.line = without_names(instruction.line);
  if (grad::ValueTypes::is_placed(instruction.types[0])) {
    form.mesh = ledger_.mesh_ids.id(instruction.mesh);
  }
  if (options_.shows) append_instruction(form.shown, instruction.line);
  // With a note #backward, gradient lines have another signal.
  const bool has_other = instruction.line.note("backward") != nullptr;
  for (const Note& note : instruction.line.notes) {
    if (note.key == "backward") {
      append_note(form.notes, {"signal", note.value});
    } else if ((note.key == "signal" && !has_other) || note.key == "mb" ||
               note.key == "local") {
      append_note(form.notes, note);
    }
  }
  form.file = instruction.origin.file();
  form.operands = static_cast<uint32_t>(instruction.operands.size());
  form.types.assign(instruction.types);
  for (const TypeId type : instruction.types) {
    form.differentiable.push_back(holds_floats(type) ? 1 : 0);
  }
  find_needed(instruction, form);
  grad::HeldForm held(tape.forms(), tape.forms().obtain(std::move(form)));
  tape.record(held.id(), instruction.operands, instruction.origin, results);
  return held;
}

// The history is held by whatever name follows from its oldest line.
void Recorder::warn_of_limit(NodeId oldest, Origin origin) {
  const grad::Tape& tape = ledger_.tape;
  SymbolId holder = kNil;
  for (NodeId n = oldest; n != kNil && holder == kNil;) {
    const grad::Node node = tape.node(n);
    n = kNil;
    for (const ValueId r : node.results) {
      if (r == kNil) continue;
      if (tape.name(r) != kNil && !tape.is_internal(r)) holder = tape.name(r);
      const std::vector<NodeId> users = tape.users(r);
      if (!users.empty()) n = users.front();
    }
  }
  std::string name = "a live name";
  if (holder != kNil) {
    name = ledger_.symbols.name_of(holder);
    origin = ledger_.symbols[holder].bound;
  }
  messages_.warn("the history that '" + name + "' holds is longer than " +
                     std::to_string(options_.limit) +
                     " lines; the oldest are forgotten. If no gradient of it "
                     "is wanted, write " +
                     name + " = detach " + name,
                 origin, "");
}

void Recorder::limit(Origin origin) {
  while (ledger_.tape.node_count() > options_.limit) {
    const NodeId oldest = ledger_.tape.oldest();
    if (!has_warned_) {
      has_warned_ = true;
      warn_of_limit(oldest, origin);
    }
    grad::Lost why;
    why.kind = grad::Lost::Kind::kForgotten;
    why.at = origin;
    ledger_.tape.forget(oldest, why);
  }
}

}  // namespace gt::emit
