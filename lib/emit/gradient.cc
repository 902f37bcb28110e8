#include "emit/gradient.h"

#include <algorithm>
#include <optional>

#include "emit/gradient_writer.h"
#include "emit/history_text.h"
#include "emit/loss.h"
#include "emit/unreached.h"
#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::emit {
namespace {

// Finds where the loss and the targets live; each gradient must live where its
// target does.
Status find_ranks(LineState& state) {
  const Line& line = state.line;
  if (Status s = check_mixed(line); !s.ok()) return s;
  std::vector<Ranks>& operands = state.where.operands;
  for (const Operand& o : line.operands) {
    operands.push_back(parse_ranks(o.ranks).value());
  }
  state.where.ranks = operands[0];
  for (size_t r = 0; r < line.results.size(); ++r) {
    const Name& name = line.results[r];
    if (ascending(parse_ranks(name.ranks).value()) ==
        ascending(operands[r + 1])) {
      continue;
    }
    const Operand& target = line.operands[r + 1];
    return Error{"grad: the gradient of " +
                     full_name(target.text, target.ranks) +
                     " lives where that does; write " +
                     full_name(name.text, target.ranks),
                 name.column};
  }
  return ok_status();
}

// Reads the list of targets in reused=. Error: it is no such list.
Status read_reused(const Line& line, const Key& key,
                   std::vector<bool>& reused) {
  const size_t targets = line.results.size();
  const auto listed = parse_integers(key.value, false);
  bool is_list = listed.ok();
  for (size_t i = 0; is_list && i < listed.value().size(); ++i) {
    const auto target = static_cast<size_t>(listed.value()[i]);
    is_list = target < targets;
    if (is_list) reused[target] = true;
  }
  if (is_list) return ok_status();
  return Error{"grad: reused= lists targets, of which this has 0 to " +
                   std::to_string(targets - 1) + ", not '" +
                   std::string(key.value) + "'",
               key.column};
}

Status read_keys(const Line& line, GradientTargets& targets) {
  targets.reused.assign(line.results.size(), false);
  for (const Key& key : line.keys) {
    if (key.key == "reused") {
      if (Status s = read_reused(line, key, targets.reused); !s.ok()) return s;
      continue;
    }
    const std::optional<bool> flag = parse_flag(key.value);
    if (key.key != "retain" || !flag) {
      return Error{"grad: takes no key but retain=0 or retain=1, and reused=",
                   key.column};
    }
    targets.retain = *flag;
  }
  return ok_status();
}

}  // namespace

Status Gradient::check_form(LineState& state) const {
  const Line& line = state.line;
  if (line.operands.size() < 2 ||
      line.results.size() != line.operands.size() - 1) {
    return Error{
        "grad: takes a loss and one target for each result; usage: g1 g2 = "
        "grad loss w1 w2",
        line.op_column};
  }
  GradientTargets targets;
  if (Status s = read_keys(line, targets); !s.ok()) return s;
  for (const Operand& o : line.operands) {
    if (o.kind == Operand::Kind::kName) continue;
    return Error{"grad: '" + std::string(o.text) + "' is not a name", o.column};
  }
  if (!is_placed(line)) return ok_status();
  state.mesh = parts_.ledger.meshes.of(line);
  return find_ranks(state);
}

Status Gradient::write(LineState& state, std::string* tape,
                       std::string& out) const {
  Ledger& ledger = parts_.ledger;
  GradientTargets targets;
  if (Status s = read_keys(state.line, targets); !s.ok()) return s;
  if (Status s = find_targets(state, targets); !s.ok()) return s;
  grad::LostTarget lost;
  const std::vector<Ranks>& where = state.where.operands;
  const grad::GradientProgram program =
      reverse(ledger.tape, ledger.types, ledger.mesh_ids,
              {targets.loss, where.empty() ? Ranks{} : where[0],
               ledger.mesh_ids.id(state.mesh), targets.values},
              lost);
  if (Status s = check(state, targets, program, lost); !s.ok()) return s;
  if (tape != nullptr) {
    const Operand& loss = state.line.operands[0];
    *tape += "# history behind " + full_name(loss.text, loss.ranks) + " at " +
             parts_.messages.place_of(state.origin, state.text) + ": " +
             std::to_string(program.history.size()) + " lines\n";
    const std::vector<NodeId> oldest_first(program.history.rbegin(),
                                           program.history.rend());
    append_history(ledger, parts_.messages, oldest_first, *tape);
  }
  write_gradient(parts_, state, program, targets, out);
  return ok_status();
}

Status Gradient::check(const LineState& state, const GradientTargets& targets,
                       const grad::GradientProgram& program,
                       const grad::LostTarget& lost) const {
  const Unreached unreached(parts_.ledger, parts_.messages, state, targets);
  if (lost.value != kNil) return unreached.explain(lost);
  if (!program.possible.ok()) {
    return Error{"grad: " + program.possible.error().message,
                 state.line.op_column};
  }
  if (Status s = unreached.check(program); !s.ok()) return s;
  return check_held(state, program);
}

// ---- targets ----------------------------------------------------------------

Status Gradient::find_targets(LineState& state,
                              GradientTargets& targets) const {
  const Ledger& ledger = parts_.ledger;
  for (size_t i = 0; i < state.line.operands.size(); ++i) {
    grad::GradientTarget target;
    if (state.reads.empty()) {
      target.parts.push_back({state.values[i], {}});
    } else {
      for (const Ledger::PieceRead& read : state.reads[i].pieces) {
        target.parts.push_back({ledger.symbols[read.symbol].value, read.ranks});
        target.ranks = together(target.ranks, read.ranks);
      }
    }
    if (Status s = check_target(state, i, target); !s.ok()) return s;
    if (i > 0) targets.values.push_back(std::move(target));
  }
  if (!state.reads.empty()) {
    // The loss is joined if several values make it up; targets stay as they
    // are.
    state.reads.resize(1);
    if (Status s = parts_.operands.join(state); !s.ok()) return s;
  }
  targets.loss = state.values[0];
  return check_loss(ledger, parts_.messages, state, targets.loss);
}

Status Gradient::check_target(const LineState& state, size_t operand,
                              const grad::GradientTarget& target) const {
  const grad::ValueTypes& types = parts_.ledger.types;
  const Operand& o = state.line.operands[operand];
  for (const grad::ValueOnRanks& part : target.parts) {
    const TypeId type = parts_.ledger.tape.type(part.value);
    const std::string what =
        full_name(o.text, o.ranks) + " " + types.describe(type);
    if (!is_float(types[type].dtype)) {
      return Error{"grad: " + what + " holds no floats", o.column};
    }
    if (operand > 0) continue;
    for (const int64_t rank : part.ranks.empty() ? Ranks{0} : part.ranks) {
      if (types.on(type, rank).shape.empty()) continue;
      return Error{
          "grad: loss " + what + " must be a scalar; take its sum or mean",
          o.column};
    }
  }
  return ok_status();
}

// ---- what the lines read ----------------------------------------------------

namespace {

// True if the name that holds a value holds it on the ranks where it is read.
bool holds_ranks(const Ledger& ledger, const grad::GradientOperand& operand,
                 const std::string& ranks) {
  if (ranks.empty()) return true;
  const Symbol& s = ledger.symbols[ledger.reading_name(operand.id)];
  const std::string& wanted = operand.ranks.empty() ? ranks : operand.ranks;
  return includes(*s.ranks, ascending(parse_ranks(wanted).value()));
}

}  // namespace

// In a stream that was emitted before, no alias keeps what a name held.
Status Gradient::check_held(const LineState& state,
                            const grad::GradientProgram& program) const {
  const Ledger& ledger = parts_.ledger;
  for (const grad::GradientLine& line : program.lines) {
    for (const grad::GradientOperand& o : line.operands) {
      if (o.kind != grad::GradientOperand::Kind::kForward) continue;
      const bool is_held = ledger.tape.name(o.id) != kNil;
      if (is_held && holds_ranks(ledger, o, line.ranks)) continue;
      const grad::Lost gone = ledger.tape.gone(o.id);
      return Error{"grad: needs the value that " +
                       std::string(ledger.lost_name(gone)) + " had at " +
                       parts_.messages.place_of(ledger.tape.origin(o.id)) +
                       ", let go at " + parts_.messages.place_of(gone.at) +
                       "; a stream opened by #gt gets no aliases",
                   state.line.op_column};
    }
  }
  return ok_status();
}

}  // namespace gt::emit
