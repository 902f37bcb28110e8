// What the tape is told of a line, and how long it may grow.
#include <algorithm>

#include "emit/session.h"
#include "grad/reads.h"
#include "ops/text.h"

namespace gt {
namespace {

// The instruction with "r" and "x" for its names: what the history needs of it,
// the same for every line of a pattern.
void append_without_names(const Line& line, std::string& out) {
  for (const Name& r : line.results) out += with_ranks("r", r.ranks) + " ";
  out += "= ";
  out += line.op;
  for (const Operand& o : line.operands) {
    out += ' ';
    if (o.kind == Operand::Kind::kName) {
      out += with_ranks("x", o.ranks);
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
}

}  // namespace

void Session::find_needed(const Call& call) {
  needed_operands_.clear();
  needed_results_.clear();
  const auto& reads = gradient_reads(*call.op);
  const size_t count = call.arguments.size();
  std::vector<bool> operands(call.op->operands.size());
  std::vector<bool> results(call.op->results.size());
  for (size_t i = 0; i < count; ++i) {
    const int32_t operand = call.arguments[i].operand;
    if (operand < 0) continue;
    const ValueId v = operand_values_[static_cast<size_t>(operand)];
    if (v == kNil || !ledger_.tape.reachable(v)) continue;
    const GradientReads& r = reads[call.op->parameter_of(i, count)];
    for (const auto& [p, line] : r.operands) {
      if (may_apply(*line, call)) operands[p] = true;
    }
    for (const auto& [p, line] : r.results) {
      if (may_apply(*line, call)) results[p] = true;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const Argument& a = call.arguments[i];
    if (a.operand < 0 || !operands[call.op->parameter_of(i, count)]) continue;
    if (operand_values_[static_cast<size_t>(a.operand)] == kNil) continue;
    needed_operands_.push_back(static_cast<uint32_t>(a.operand));
  }
  for (size_t r = 0; r < call.result_count; ++r) {
    if (results[call.op->result_parameter_of(r, call.result_count)]) {
      needed_results_.push_back(static_cast<uint32_t>(r));
    }
  }
}

// Results that the user left out and that the gradient of a history to come
// reads: they get names of ours.
bool Session::add_results(const Call& call) {
  added_.clear();
  const Op& op = *call.op;
  size_t wanted = call.result_count;
  if (ledger_.emitted || wanted >= op.results.size()) return false;
  const auto& reads = gradient_reads(op);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const int32_t operand = call.arguments[i].operand;
    if (operand < 0) continue;
    const ValueId v = operand_values_[static_cast<size_t>(operand)];
    if (v == kNil || !ledger_.tape.reachable(v)) continue;
    for (const auto& [r, line] :
         reads[op.parameter_of(i, call.arguments.size())].results) {
      if (op.results[r].optional && may_apply(*line, call)) {
        wanted = std::max<size_t>(wanted, r + 1);
      }
    }
  }
  while (line_.results.size() < wanted) {
    added_.push_back(ledger_.fresh_name(line_.results[0].text));
    line_.results.push_back({added_.back(), line_.results[0].ranks, 0});
  }
  return !added_.empty();
}

// Values of the line's results: with history unless they are leaves.
void Session::record(const Call& call, Origin origin) {
  result_types_.clear();
  differentiable_.clear();
  for (const Type& type : call.results) {
    result_types_.push_back(ledger_.types.id(type));
    differentiable_.push_back(is_float(type.dtype) ? 1 : 0);
  }
  record_typed(call, origin);
}

void Session::record_typed(const Call& call, Origin origin) {
  const bool floats = std::find(differentiable_.begin(), differentiable_.end(),
                                1) != differentiable_.end();
  const bool reads = std::any_of(operand_values_.begin(), operand_values_.end(),
                                 [](ValueId v) { return v != kNil; });
  if (!floats || !reads || call.op->row->leaf) {
    result_values_.clear();
    for (size_t r = 0; r < result_types_.size(); ++r) {
      result_values_.push_back(ledger_.tape.add_leaf(
          result_types_[r], differentiable_[r] != 0, origin));
    }
    drop_form();
    return;
  }
  find_needed(call);
  Form form;
  form.op = call.op;
  append_without_names(line_, form.line);
  if (TypeIds::is_placed(result_types_[0])) {
    form.mesh = ledger_.mesh_ids.id(mesh_);
  }
  if (options_.tape) append_instruction(form.shown, line_);
  for (const Note& note : line_.notes) {
    if (note.key != "signal" && note.key != "mb" && note.key != "local") {
      continue;
    }
    form.notes += " #" + std::string(note.key);
    if (!note.value.empty()) form.notes += "=" + std::string(note.value);
  }
  form.file = origin.file();
  form.operands = static_cast<uint32_t>(operand_values_.size());
  form.types.assign(result_types_);
  form.differentiable.assign(differentiable_);
  form.needed_operands.assign(needed_operands_);
  form.needed_results.assign(needed_results_);
  drop_form();
  form_ = ledger_.tape.forms().obtain(std::move(form));
  ledger_.tape.record(form_, operand_values_, origin, result_values_);
}

void Session::drop_form() {
  if (form_ != kNil) ledger_.tape.forms().drop(form_);
  form_ = kNil;
}

// Whoever follows from the oldest line holds the history.
void Session::warn_history(NodeId oldest, Origin origin) {
  SymbolId holder = kNil;
  for (NodeId n = oldest; n != kNil && holder == kNil;) {
    const Tape& tape = ledger_.tape;
    const Node node = tape.node(n);
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
    name = ledger_.symbols[holder].text;
    origin = ledger_.symbols[holder].bound;
  }
  text_ = {};
  warn("the history that '" + name + "' holds is longer than " +
           std::to_string(options_.history) +
           " lines; the oldest are forgotten. If no gradient of it is wanted, "
           "write " +
           name + " = detach " + name,
       origin);
}

void Session::limit_history(Origin origin) {
  while (ledger_.tape.node_count() > options_.history) {
    const NodeId oldest = ledger_.tape.oldest();
    if (!warned_history_) {
      warned_history_ = true;
      warn_history(oldest, origin);
    }
    Lost why;
    why.kind = Lost::Kind::kForgotten;
    why.at = origin;
    ledger_.tape.forget(oldest, why);
  }
}

}  // namespace gt
