// grad: which histories it may walk, and how its lines are written.
#include <algorithm>
#include <unordered_set>

#include "emit/session.h"

namespace gt {

// Writes a gradient program with names: targets under the user's, the rest
// under our own, each freed right after its last use.
class Session::GradientWriter {
 public:
  GradientWriter(Session& session, const GradientProgram& program,
                 const Targets& targets, Origin origin, std::string& out)
      : s_(session),
        program_(program),
        targets_(targets),
        origin_(origin),
        out_(out),
        values_(program.handle_types.size(), kNil),
        uses_(program.handle_types.size(), 0) {}

  void run() {
    take_notes();
    count_uses();
    if (!targets_.retain) consume();
    for (const GradientLine& line : program_.lines) write(line);
    for (size_t t = 0; t < targets_.names.size(); ++t) write_rest(t);
  }

 private:
  // The line's own notes and remark go with the first target's gradient.
  void take_notes() {
    at_ = s_.at_note(origin_);
    for (const Note& note : s_.line_.notes) {
      std::string text = " #" + std::string(note.key);
      if (!note.value.empty()) text += "=" + std::string(note.value);
      if (note.key == "at") {
        at_ = text;
      } else if (note.key != "signal" && note.key != "mb") {
        user_notes_ += text;
      }
    }
    if (!s_.line_.remark.empty()) {
      remark_ = " " + std::string(s_.line_.remark);
    }
  }

  // Reads to come keep data alive, the user's names apart.
  void count_uses() {
    for (const GradientLine& line : program_.lines) {
      for (const GradientOperand& o : line.operands) {
        if (o.kind == GradientOperand::Kind::kHandle) ++uses_[o.id];
        if (o.kind == GradientOperand::Kind::kForward) {
          s_.ledger_.tape.add_read(o.id);
        }
      }
    }
    // A second target with the same gradient copies it.
    for (size_t t = 0; t < targets_.names.size(); ++t) {
      if (program_.targets[t] != kNil && first_target(t) != t) {
        ++uses_[program_.targets[t]];
      }
    }
  }

  size_t first_target(size_t t) const {
    size_t first = 0;
    while (program_.targets[first] != program_.targets[t]) ++first;
    return first;
  }

  void consume() {
    Lost why;
    why.kind = Lost::Kind::kConsumed;
    why.at = origin_;
    for (const NodeId n : program_.history) {
      if (s_.ledger_.tape.node(n).op != nullptr) s_.ledger_.tape.forget(n, why);
    }
    s_.ledger_.write_idle_frees(out_);
  }

  const std::string& name_of(const GradientOperand& o) const {
    if (o.kind == GradientOperand::Kind::kText) return o.text;
    const ValueId v =
        o.kind == GradientOperand::Kind::kHandle ? values_[o.id] : o.id;
    return s_.ledger_.symbols[s_.ledger_.tape.value(v).name].text;
  }

  // The target whose gradient the handle is, or -1.
  int target_of(Handle h) const {
    for (size_t t = 0; t < program_.targets.size(); ++t) {
      if (program_.targets[t] == h) return static_cast<int>(t);
    }
    return -1;
  }

  void write(const GradientLine& line) {
    std::string tail = line.op->name;
    for (const GradientOperand& o : line.operands) tail += " " + name_of(o);
    for (const auto& [key, value] : line.keys) tail += " " + key + "=" + value;
    std::vector<ValueId> results = define(line, tail);
    std::string before;
    std::string head;
    std::string notes = line.notes + " #bwd";
    for (size_t r = 0; r < results.size(); ++r) {
      const Handle h = line.results[r];
      values_[h] = results[r];
      for (uint32_t u = 0; u < uses_[h]; ++u)
        s_.ledger_.tape.add_read(results[r]);
      const int target = target_of(h);
      if (target >= 0) {
        const auto t = static_cast<size_t>(target);
        s_.ledger_.bind(targets_.names[t], results[r], origin_, before);
        notes += " #grad=" + target_text(t) + std::exchange(user_notes_, {});
      } else {
        s_.ledger_.hold_internal(results[r], origin_);
      }
      head +=
          s_.ledger_.symbols[s_.ledger_.tape.value(results[r]).name].text + " ";
    }
    out_ += before + head + "= " + tail + notes + at_;
    if (notes.find(" #grad=") != std::string::npos) {
      out_ += std::exchange(remark_, {});
    }
    out_ += "\n";
    finish_reads(line);
  }

  std::string target_text(size_t t) const {
    return std::string(s_.line_.operands[t + 1].text);
  }

  // The line's values: with history only when the gradient is to have one.
  std::vector<ValueId> define(const GradientLine& line,
                              const std::string& tail) {
    std::vector<ValueId> results;
    if (targets_.retain) return define_recorded(line, tail);
    for (const Handle h : line.results) {
      const TypeId type = program_.handle_types[h];
      results.push_back(s_.ledger_.tape.add_leaf(
          type, is_float(s_.ledger_.types[type].dtype), origin_));
    }
    return results;
  }

  std::vector<ValueId> define_recorded(const GradientLine& line,
                                       const std::string& tail) {
    std::string text;
    for (size_t r = 0; r < line.results.size(); ++r) text += "r ";
    text += "= " + tail;
    Line parsed;
    GT_CHECK(parse_line(text, parsed).ok());
    std::vector<const Type*> types;
    s_.operand_values_.clear();
    for (const GradientOperand& o : line.operands) {
      ValueId v = kNil;
      if (o.kind == GradientOperand::Kind::kHandle) v = values_[o.id];
      if (o.kind == GradientOperand::Kind::kForward) v = o.id;
      s_.operand_values_.push_back(v);
      types.push_back(v == kNil
                          ? nullptr
                          : &s_.ledger_.types[s_.ledger_.tape.value(v).type]);
    }
    Call call;
    GT_CHECK(gt::bind(parsed, types, call).ok());
    std::swap(s_.line_, parsed);
    s_.record(call, origin_);
    std::swap(s_.line_, parsed);
    return s_.result_values_;
  }

  void finish_reads(const GradientLine& line) {
    for (const GradientOperand& o : line.operands) {
      if (o.kind == GradientOperand::Kind::kText) continue;
      s_.ledger_.tape.drop_read(
          o.kind == GradientOperand::Kind::kHandle ? values_[o.id] : o.id);
    }
    s_.ledger_.write_idle_frees(out_);
  }

  // A gradient under a second name, or of a target that was not reached.
  void write_rest(size_t t) {
    const Handle h = program_.targets[t];
    if (h != kNil && first_target(t) == t) return;
    const Value& target = s_.ledger_.tape.value(targets_.values[t]);
    const TypeId type = target.type;
    std::string text = "zeros " + to_string(s_.ledger_.types[type]);
    if (h == kNil) {
      s_.warn("grad: the loss does not depend on " + target_text(t) +
                  "; its gradient is zeros",
              origin_);
    } else {
      text = "copy " +
             s_.ledger_.symbols[s_.ledger_.tape.value(values_[h]).name].text;
    }
    std::string before;
    const ValueId v = s_.ledger_.tape.add_leaf(type, true, origin_);
    s_.ledger_.bind(targets_.names[t], v, origin_, before);
    out_ += before + s_.ledger_.symbols[targets_.names[t]].text + " = " + text +
            " #bwd #grad=" + target_text(t) + std::exchange(user_notes_, {}) +
            at_ + std::exchange(remark_, {}) + "\n";
    if (h != kNil) s_.ledger_.tape.drop_read(values_[h]);
    s_.ledger_.write_idle_frees(out_);
  }

  Session& s_;
  const GradientProgram& program_;
  const Targets& targets_;
  Origin origin_;
  std::string& out_;
  std::vector<ValueId> values_;  // by handle
  std::vector<uint32_t> uses_;   // by handle
  std::string user_notes_, remark_, at_;
};

void Session::grad(Origin origin, std::string& out) {
  if (Status s = check_results(); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  if (!resolve(origin, out)) return;
  Targets targets;
  if (Status s = grad_targets(targets); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  LostTarget lost;
  const GradientProgram program =
      reverse(ledger_.tape, ledger_.types, targets.loss, targets.values, lost);
  Status possible = ok_status();
  if (lost.value != kNil) {
    possible = explain_lost(lost);
  } else {
    for (size_t t = 0; possible.ok() && t < targets.values.size(); ++t) {
      if (program.targets[t] == kNil) possible = check_rebound(targets, t);
    }
  }
  if (possible.ok()) possible = check_held(program);
  if (!possible.ok()) return reject(possible.error(), origin, out);
  if (options_.tape) {
    std::vector<NodeId> nodes(program.history.rbegin(), program.history.rend());
    tape_text_ += "# history behind " +
                  ledger_.symbols[operand_symbols_[0]].text + " at " +
                  place_of(origin) + ": " + std::to_string(nodes.size()) +
                  " lines\n";
    print_tape(nodes, tape_text_);
  }
  for (const Name& r : line_.results) {
    targets.names.push_back(ledger_.symbols.intern(r.text));
  }
  GradientWriter(*this, program, targets, origin, out).run();
  limit_history(origin);
}

Status Session::grad_targets(Targets& targets) {
  const auto usage = [this](uint32_t column, const std::string& message) {
    return Error{"grad: " + message, column};
  };
  if (line_.operands.size() < 2 ||
      line_.results.size() != line_.operands.size() - 1) {
    return usage(line_.op_column,
                 "takes a loss and one target for each result; usage: g1 g2 = "
                 "grad loss w1 w2");
  }
  for (const Key& key : line_.keys) {
    if (key.key != "retain" || (key.value != "0" && key.value != "1")) {
      return usage(key.column, "takes no key but retain=0 or retain=1");
    }
    targets.retain = key.value == "1";
  }
  for (size_t i = 0; i < line_.operands.size(); ++i) {
    const Operand& o = line_.operands[i];
    if (operand_values_[i] == kNil) {
      return usage(o.column, "'" + std::string(o.text) + "' is not a name");
    }
    const std::string what =
        std::string(o.text) + " " + to_string(*operand_types_[i]);
    if (!is_float(operand_types_[i]->dtype)) {
      return usage(o.column, what + " holds no floats");
    }
    if (i > 0) {
      targets.values.push_back(operand_values_[i]);
    } else if (!operand_types_[i]->shape.empty()) {
      return usage(o.column,
                   "loss " + what + " must be a scalar; take its sum or mean");
    } else {
      targets.loss = operand_values_[i];
    }
  }
  return ok_status();
}

Status Session::explain_lost(const LostTarget& lost) const {
  const Value& v = ledger_.tape.value(lost.value);
  const size_t operand = lost.target + 1;
  const std::string target(line_.operands[operand].text);
  const std::string what =
      (v.name == kNil ? std::string("a value") : ledger_.symbols[v.name].text) +
      ", computed at " + place_of(v.origin) + ",";
  std::string message;
  if (v.lost.kind == Lost::Kind::kConsumed) {
    message = " was consumed by the grad at " + place_of(v.lost.at) +
              "; write retain=1 there, or detach it";
  } else {
    message = " was forgotten at " + place_of(v.lost.at) +
              ", being longer than --history lines; detach it or raise the "
              "limit";
  }
  return Error{
      "grad: cannot reach " + target + ": the history of " + what + message,
      line_.operands[operand].column};
}

// A target that the loss does not reach is an error, not zeros, when the loss
// was computed from what the name held before.
Status Session::check_rebound(const Targets& targets, size_t target) const {
  const Operand& operand = line_.operands[target + 1];
  std::unordered_set<ValueId> seen;
  std::vector<ValueId> open = {targets.loss};
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const Value& v = ledger_.tape.value(id);
    const Lost* rebound = nullptr;
    if (v.gone.kind != Lost::Kind::kNot &&
        ledger_.lost_name(v.gone) == operand.text) {
      rebound = &v.gone;
    }
    // The name that went last stands for all that led here. It is not the
    // target's unless that was bound since.
    const uint64_t bound = ledger_.tape.value(targets.values[target]).serial;
    const bool since = ledger_.lost_name(v.lost) == operand.text
                           ? bound > v.serial
                           : bound > ledger_.tape.value(targets.loss).serial;
    if (v.lost.kind == Lost::Kind::kRebound && v.producer == kNil && since) {
      rebound = &v.lost;
    }
    if (rebound != nullptr) {
      return Error{
          "grad: " + std::string(ledger_.lost_name(*rebound)) +
              " was bound again at " + place_of(rebound->at) + ", since " +
              ledger_.symbols[ledger_.tape.value(targets.loss).name].text +
              " was computed at " +
              place_of(ledger_.tape.value(targets.loss).origin) +
              "; take grad before that",
          operand.column};
    }
    if (v.producer == kNil) continue;
    for (const ValueId o : ledger_.tape.node(v.producer).operands()) {
      if (o != kNil) open.push_back(o);
    }
  }
  return ok_status();
}

// In a stream that was emitted before, no alias keeps what a name let go.
Status Session::check_held(const GradientProgram& program) const {
  for (const GradientLine& line : program.lines) {
    for (const GradientOperand& o : line.operands) {
      if (o.kind != GradientOperand::Kind::kForward) continue;
      const Value& v = ledger_.tape.value(o.id);
      if (v.name != kNil) continue;
      return Error{"grad: needs the value that " +
                       std::string(ledger_.lost_name(v.gone)) + " had at " +
                       place_of(v.origin) + ", let go at " +
                       place_of(v.gone.at) +
                       "; a stream opened by #gt gets no aliases",
                   line_.op_column};
    }
  }
  return ok_status();
}

void Session::print_tape(std::span<const NodeId> nodes,
                         std::string& out) const {
  for (const NodeId id : nodes) {
    const Node& n = ledger_.tape.node(id);
    std::string type;
    for (const ValueId r : n.results()) {
      if (r != kNil)
        type = to_string(ledger_.types[ledger_.tape.value(r).type]);
    }
    std::string reads;
    for (const ValueId v : n.needed()) {
      const SymbolId name = ledger_.tape.value(v).name;
      reads +=
          " " + (name == kNil ? std::string("?") : ledger_.symbols[name].text);
    }
    out += n.text->shown + "  # " + place_of(n.origin) + " " + type +
           (reads.empty() ? "" : " reads" + reads) + "\n";
  }
}

}  // namespace gt
