// grad: which histories it may walk.
#include <algorithm>

#include "emit/session.h"
#include "grad/history.h"
#include "ops/table.h"
#include "stream/ranks.h"

namespace gt {

void Session::grad(Origin origin, std::string& out) {
  if (Status s = check_results(); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  Targets targets;
  if (Status s = grad_form(targets); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  before_.clear();
  mesh_ = nullptr;
  where_ = {};
  reads_.clear();
  joined_.clear();
  if (is_placed(line_)) {
    if (Status s = grad_ranks(); !s.ok()) return reject(s.error(), origin, out);
    if (!resolve_pieces(origin, out)) return;
    operand_values_.assign(line_.operands.size(), kNil);
  } else if (!resolve(origin, out)) {
    return;
  }
  if (Status s = grad_targets(targets, origin); !s.ok()) {
    settle_joined(origin);
    return reject(s.error(), origin, out);
  }
  LostTarget lost;
  const GradientProgram program = reverse(
      ledger_.tape, ledger_.types, ledger_.mesh_ids,
      {targets.loss, where_.operands.empty() ? Ranks{} : where_.operands[0],
       ledger_.mesh_ids.id(mesh_), targets.values},
      lost);
  Status possible = program.possible;
  if (lost.value != kNil) {
    possible = explain_lost(lost);
  } else if (!possible.ok()) {
    possible = Error{"grad: " + possible.error().message, line_.op_column};
  } else {
    std::optional<Rebound> rebound;
    for (size_t t = 0; possible.ok() && t < targets.values.size(); ++t) {
      if (program.targets[t] != kNil) continue;
      if (!rebound) rebound = rebound_behind(targets.loss);
      possible = check_rebound(targets, t, *rebound);
    }
  }
  if (possible.ok()) possible = check_held(program);
  if (!possible.ok()) {
    settle_joined(origin);
    return reject(possible.error(), origin, out);
  }
  if (options_.tape) {
    std::vector<NodeId> nodes(program.history.rbegin(), program.history.rend());
    tape_text_ += "# history behind " +
                  with_ranks(line_.operands[0].text, line_.operands[0].ranks) +
                  " at " + place_of(origin) + ": " +
                  std::to_string(nodes.size()) + " lines\n";
    print_tape(nodes, tape_text_);
  }
  write_gradient(program, targets, origin, out);
  settle_joined(origin);
  limit_history(origin);
}

// The loss and the targets may live on different ranks; each gradient lives
// where its target does.
Status Session::grad_ranks() {
  if (Status s = check_mixed(line_); !s.ok()) return s;
  where_ = {};
  for (const Operand& o : line_.operands) {
    where_.operands.emplace_back();
    if (o.kind != Operand::Kind::kName) continue;
    where_.operands.back() = parse_ranks(o.ranks).value();
  }
  if (!where_.operands.empty()) where_.ranks = where_.operands[0];
  mesh_ = ledger_.meshes.of(line_);
  for (size_t r = 0; r < line_.results.size(); ++r) {
    if (r + 1 >= where_.operands.size()) break;
    const Name& name = line_.results[r];
    if (ascending(parse_ranks(name.ranks).value()) ==
        ascending(where_.operands[r + 1])) {
      continue;
    }
    const Operand& target = line_.operands[r + 1];
    return Error{"grad: the gradient of " +
                     with_ranks(target.text, target.ranks) +
                     " lives where that does; write " +
                     with_ranks(name.text, target.ranks),
                 name.column};
  }
  return ok_status();
}

Status Session::grad_form(Targets& targets) const {
  if (line_.operands.size() < 2 ||
      line_.results.size() != line_.operands.size() - 1) {
    return Error{
        "grad: takes a loss and one target for each result; usage: g1 g2 = "
        "grad loss w1 w2",
        line_.op_column};
  }
  for (const Key& key : line_.keys) {
    const auto flag = parse_flag(key.value);
    if (key.key != "retain" || !flag) {
      return Error{"grad: takes no key but retain=0 or retain=1", key.column};
    }
    targets.retain = *flag;
  }
  for (const Operand& o : line_.operands) {
    if (o.kind == Operand::Kind::kName) continue;
    return Error{"grad: '" + std::string(o.text) + "' is not a name", o.column};
  }
  return ok_status();
}

Status Session::grad_targets(Targets& targets, Origin origin) {
  for (size_t i = 0; i < line_.operands.size(); ++i) {
    GradientTarget target;
    if (reads_.empty()) {
      target.parts.push_back({operand_values_[i], {}});
    } else {
      for (const Ledger::PieceRead& read : reads_[i].pieces) {
        target.parts.push_back(
            {ledger_.symbols[read.symbol].value, read.ranks});
        target.ranks = together(target.ranks, read.ranks);
      }
    }
    if (Status s = check_target(i, target); !s.ok()) return s;
    if (i > 0) targets.values.push_back(std::move(target));
  }
  if (!reads_.empty()) {
    // Of several values the loss is put together; targets stay what they are.
    std::vector<Ledger::PieceReads> all(reads_.size());
    all[0] = reads_[0];
    std::swap(all, reads_);
    const Status joined = join_operands(origin);
    if (!joined.ok()) return joined;
    std::swap(all, reads_);
    reads_.resize(1);
    targets.loss = operand_values_[0];
    return check_loss(line_.operands[0], targets.loss);
  }
  targets.loss = operand_values_[0];
  return ok_status();
}

Status Session::check_target(size_t operand,
                             const GradientTarget& target) const {
  const Operand& o = line_.operands[operand];
  for (const ValueOnRanks& part : target.parts) {
    const TypeId type = ledger_.tape.type(part.value);
    const std::string what =
        with_ranks(o.text, o.ranks) + " " + ledger_.types.describe(type);
    if (!is_float(ledger_.types[type].dtype)) {
      return Error{"grad: " + what + " holds no floats", o.column};
    }
    if (operand > 0) continue;
    for (const int64_t rank : part.ranks.empty() ? Ranks{0} : part.ranks) {
      if (ledger_.types.on(type, rank).shape.empty()) continue;
      return Error{
          "grad: loss " + what + " must be a scalar; take its sum or mean",
          o.column};
    }
  }
  return ok_status();
}

Status Session::explain_lost(const LostTarget& lost) const {
  const SymbolId name = ledger_.tape.name(lost.value);
  const Lost& why = ledger_.tape.lost(lost.value);
  const size_t operand = lost.target + 1;
  const std::string target(line_.operands[operand].text);
  const std::string what =
      (name == kNil ? std::string("a value") : ledger_.symbols[name].text) +
      ", computed at " + place_of(ledger_.tape.origin(lost.value)) + ",";
  std::string message;
  if (why.kind == Lost::Kind::kConsumed) {
    message = " was consumed by the grad at " + place_of(why.at) +
              "; write retain=1 there, or detach it";
  } else {
    message = " was forgotten at " + place_of(why.at) +
              ", being longer than --history lines; detach it or raise the "
              "limit";
  }
  return Error{
      "grad: cannot reach " + target + ": the history of " + what + message,
      line_.operands[operand].column};
}

Session::Rebound Session::rebound_behind(ValueId loss) const {
  Rebound rebound;
  const Tape& tape = ledger_.tape;
  walk_back(tape, loss, [&](ValueId id) {
    const Lost gone = tape.gone(id);
    if (tape.lost(id).kind == Lost::Kind::kRebound &&
        tape.producer(id) == kNil) {
      rebound.ends.push_back(id);
    } else if (gone.kind != Lost::Kind::kNot) {
      rebound.by_name[without_ranks(ledger_.lost_name(gone))].push_back(id);
    }
    return true;
  });
  return rebound;
}

// A target that the loss does not reach is an error, not zeros, when the loss
// was computed from what the name held before.
Status Session::check_rebound(const Targets& targets, size_t target,
                              const Rebound& behind) const {
  const Operand& operand = line_.operands[target + 1];
  const Ranks& ranks = targets.values[target].ranks;
  const auto is_target = [&](const Lost& lost) {
    const std::string_view name = ledger_.lost_name(lost);
    if (without_ranks(name) != operand.text) return false;
    if (ranks.empty()) return name == operand.text;
    const auto had = parse_ranks(name.substr(operand.text.size() + 1));
    return had.ok() && !common(ranks, had.value()).empty();
  };
  std::vector<ValueId> values = behind.ends;
  if (const auto named = behind.by_name.find(operand.text);
      named != behind.by_name.end()) {
    values.insert(values.end(), named->second.begin(), named->second.end());
  }
  for (const ValueId id : values) {
    const Lost gone = ledger_.tape.gone(id);
    const Lost& lost = ledger_.tape.lost(id);
    const Lost* rebound = nullptr;
    if (gone.kind != Lost::Kind::kNot && is_target(gone)) rebound = &gone;
    // The name that went last stands for all that led here. It is not the
    // target's unless that was bound since.
    uint64_t bound = 0;
    for (const ValueOnRanks& part : targets.values[target].parts) {
      bound = std::max(bound, ledger_.tape.serial(part.value));
    }
    const bool since = is_target(lost)
                           ? bound > ledger_.tape.serial(id)
                           : bound > ledger_.tape.serial(targets.loss);
    if (lost.kind == Lost::Kind::kRebound &&
        ledger_.tape.producer(id) == kNil && since) {
      rebound = &lost;
    }
    if (rebound != nullptr) {
      return explain_rebound(*rebound, targets.loss, bound, operand.column);
    }
  }
  return ok_status();
}

// `bound`: the serial number of the value that the target has now. Its name may
// have been bound again before the loss was computed, after it, or both.
Error Session::explain_rebound(const Lost& rebound, ValueId loss,
                               uint64_t bound, uint32_t column) const {
  const std::string name(ledger_.lost_name(rebound));
  const bool since = bound > ledger_.tape.serial(loss);
  return Error{
      "grad: " + with_ranks(line_.operands[0].text, line_.operands[0].ranks) +
          ", computed at " + place_of(ledger_.tape.origin(loss)) +
          ", depends on the value that " + name + " had until " +
          place_of(rebound.at) + ", and not on the one that it has now; " +
          (since ? "take grad before that line, or " : "") +
          "bind another name there",
      column};
}

// Whether the name that holds a value holds it on the ranks where it is read.
bool Session::holds_ranks(const GradientOperand& operand,
                          const std::string& ranks) const {
  if (ranks.empty()) return true;
  const Symbol& s = ledger_.symbols[ledger_.reading_name(operand.id)];
  const std::string& wanted = operand.ranks.empty() ? ranks : operand.ranks;
  return includes(s.ranks, ascending(parse_ranks(wanted).value()));
}

// In a stream that was emitted before, no alias keeps what a name let go.
Status Session::check_held(const GradientProgram& program) const {
  for (const GradientLine& line : program.lines) {
    for (const GradientOperand& o : line.operands) {
      if (o.kind != GradientOperand::Kind::kForward) continue;
      const bool is_held = ledger_.tape.name(o.id) != kNil;
      if (is_held && holds_ranks(o, line.ranks)) continue;
      const Lost gone = ledger_.tape.gone(o.id);
      return Error{"grad: needs the value that " +
                       std::string(ledger_.lost_name(gone)) + " had at " +
                       place_of(ledger_.tape.origin(o.id)) + ", let go at " +
                       place_of(gone.at) +
                       "; a stream opened by #gt gets no aliases",
                   line_.op_column};
    }
  }
  return ok_status();
}

void Session::print_tape(std::span<const NodeId> nodes,
                         std::string& out) const {
  for (const NodeId id : nodes) {
    const Node n = ledger_.tape.node(id);
    std::string type;
    for (const ValueId r : n.results) {
      if (r != kNil) type = ledger_.types.describe(ledger_.tape.type(r));
    }
    std::string reads;
    for (const ValueId v : n.needed) {
      const SymbolId name = ledger_.reading_name(v);
      reads +=
          " " + (name == kNil ? std::string("?") : ledger_.symbols[name].text);
    }
    out += n.form->shown + "  # " + place_of(n.origin) + " " + type +
           (reads.empty() ? "" : " reads" + reads) + "\n";
  }
}

}  // namespace gt
