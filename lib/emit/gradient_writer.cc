#include "emit/gradient_writer.h"

#include <algorithm>
#include <unordered_map>

#include "emit/gradient_mesh.h"
#include "emit/gradient_notes.h"
#include "emit/gradient_zeros.h"
#include "grad/gradient_lines.h"
#include "program/costs.h"
#include "stream/ranks.h"

namespace gt::emit {
namespace {

class GradientWriter {
 public:
  GradientWriter(const GradientParts& parts, const LineState& state,
                 const grad::GradientProgram& program,
                 const GradientTargets& targets, std::string& out)
      : parts_(parts),
        ledger_(parts.ledger),
        line_(state.line),
        text_(state.text),
        mesh_(state.mesh),
        origin_(state.origin),
        program_(program),
        targets_(targets),
        out_(out),
        notes_(state.line, parts.writer.at_note(state)),
        values_(program.handle_types.size(), kNil),
        uses_(program.handle_types.size(), 0),
        into_(program.handle_types.size(), kNil),
        names_(program.handle_types.size()),
        is_bound_(targets.values.size()) {
    for (size_t t = 0; t < program_.targets.size(); ++t) {
      target_of_.emplace(program_.targets[t], t);
    }
    for (size_t r = 0; r < line_.results.size(); ++r) {
      results_named_.emplace(line_.results[r].text, r);
    }
  }

  void run() {
    find_zeros();
    count_uses();
    find_parts();
    if (!targets_.retain) consume();
    for (const grad::GradientLine& line : program_.lines) {
      if (line.op == &grad::pieces_op()) {
        write_pieces(line);
      } else {
        write(line);
      }
    }
    for (size_t t = 0; t < targets_.values.size(); ++t) write_rest(t);
  }

 private:
  using Kind = grad::GradientOperand::Kind;

  // Finds the zeros of targets that the loss does not reach, before anything is
  // written: a result may bind such a target's name again, and the value that
  // has its type then goes with the name.
  void find_zeros() {
    zeros_.resize(targets_.values.size());
    for (size_t t = 0; t < zeros_.size(); ++t) {
      if (program_.targets[t] != kNil) continue;
      zeros_[t] = target_zeros(ledger_, targets_.values[t], mesh_);
    }
  }

  // Counts the reads to come. They keep data alive, independently of the user's
  // names.
  void count_uses() {
    for (const grad::GradientLine& line : program_.lines) {
      for (const grad::GradientOperand& o : line.operands) {
        if (o.kind == Kind::kHandle) ++uses_[o.id];
        if (o.kind == Kind::kForward) ledger_.tape.add_read(o.id);
      }
    }
    // A second target with the same gradient gets a copy of it.
    for (size_t t = 0; t < targets_.values.size(); ++t) {
      if (program_.targets[t] != kNil && first_target(t) != t) {
        ++uses_[program_.targets[t]];
      }
    }
  }

  // A gradient that is read only as a part of one other gradient needs no name
  // of its own: it is that other one on its ranks.
  void find_parts() {
    for (const grad::GradientLine& line : program_.lines) {
      if (line.op != &grad::pieces_op()) continue;
      for (const grad::GradientOperand& o : line.operands) {
        if (o.kind != Kind::kHandle || uses_[o.id] != 1) continue;
        if (target_of(o.id) >= 0) continue;
        const TypeId type = program_.handle_types[o.id];
        if (to_string(ledger_.types.ranks(type)) == o.ranks) {
          into_[o.id] = line.results[0];
        }
      }
    }
  }

  std::string_view loss_name() const { return line_.operands[0].text; }

  size_t first_target(size_t t) const {
    return target_of_.at(program_.targets[t]);
  }

  void consume() {
    grad::Lost why;
    why.kind = grad::Lost::Kind::kConsumed;
    why.at = origin_;
    const std::vector<ValueId> held = recipes_of_held();
    ledger_.tape.consume(program_.history, why);
    for (const ValueId v : held) ledger_.recipes.remove(v);
    ledger_.write_idle_frees(out_);
  }

  // Returns the values of the history that have both a recipe and a register.
  std::vector<ValueId> recipes_of_held() const {
    std::vector<ValueId> held;
    if (ledger_.recipes.is_empty()) return held;
    for (const NodeId node : program_.history) {
      for (const ValueId v : ledger_.tape.node(node).results) {
        const bool has_recipe = v != kNil && ledger_.recipes.find(v) != nullptr;
        if (has_recipe && !ledger_.recipes.is_dropped(v)) held.push_back(v);
      }
    }
    return held;
  }

  // Returns kNil for text.
  ValueId value_of(const grad::GradientOperand& o) const {
    switch (o.kind) {
      case Kind::kHandle:
        return values_[o.id];
      case Kind::kForward:
        return o.id;
      case Kind::kText:
        break;
    }
    return kNil;
  }

  std::string name_of(const grad::GradientOperand& o,
                      const std::string& ranks) const {
    if (o.kind == Kind::kText) return o.text;
    return ledger_.name_of(value_of(o), o.ranks.empty() ? ranks : o.ranks);
  }

  // Returns the first target whose gradient the handle is, or -1.
  int target_of(grad::Handle h) const {
    const auto it = target_of_.find(h);
    return it == target_of_.end() ? -1 : static_cast<int>(it->second);
  }

  grad::Handle whole_of(grad::Handle h) const {
    while (into_[h] != kNil) h = into_[h];
    return h;
  }

  // Gives a result its name; what must stand before the line goes to `before`.
  std::string name_result(grad::Handle h, std::string& before) {
    const ValueId v = values_[h];
    const grad::Handle whole = whole_of(h);
    const Ranks& ranks = ledger_.types.ranks(program_.handle_types[h]);
    if (const int target = target_of(whole); target >= 0) {
      is_bound_[static_cast<size_t>(target)] = true;
      const Name& name = line_.results[static_cast<size_t>(target)];
      ledger_.bind(name.text, ranks, v, false, origin_, before);
      return std::string(name.text);
    }
    std::string& name = names_[whole];
    if (name.empty()) name = ledger_.fresh_name(loss_name());
    ledger_.bind(name, ranks, v, true, origin_, before);
    return name;
  }

  // Returns "" for a handle that is no target's gradient; else the target's
  // note, and the first time the user's own notes.
  std::string target_notes(grad::Handle h) {
    const int target = target_of(whole_of(h));
    if (target < 0) return "";
    return grad_note(static_cast<size_t>(target)) + notes_.take();
  }

  // "#grad=w" says that the gradient has the type of w. It is left out once
  // another result has bound that name, as in "w v = grad l v w".
  std::string grad_note(size_t t) const {
    const auto [begin, end] = results_named_.equal_range(target_text(t));
    for (auto same = begin; same != end; ++same) {
      if (same->second != t && is_bound_[same->second]) return "";
    }
    return " #grad=" + std::string(target_text(t));
  }

  std::string_view target_text(size_t t) const {
    return line_.operands[t + 1].text;
  }

  void write(const grad::GradientLine& line) {
    recompute_operands(line);
    std::string tail = line.op->name;
    for (const grad::GradientOperand& o : line.operands) {
      tail += " " + name_of(o, line.ranks);
    }
    for (const auto& [key, value] : line.keys) {
      tail += " " + key + "=" +
              portable_value(ledger_, line, loss_name(), key, value);
    }
    define(line);
    std::string before, head, first;
    std::string notes =
        line.notes + " #bwd" + type_notes(ledger_.mesh_ids[line.mesh], line);
    for (const grad::Handle h : line.results) {
      for (uint32_t u = 0; u < uses_[h]; ++u) {
        ledger_.tape.add_read(values_[h]);
      }
      const std::string name = name_result(h, before);
      if (first.empty()) first = name;
      notes += target_notes(h);
      head += full_name(name, line.ranks) + " ";
    }
    const std::string end = enter_mesh(ledger_, line, first, before);
    out_ += before + head + "= " + tail;
    notes_.end_line(notes, out_);
    out_ += end;
    finish_reads(line);
    // Results that nothing reads and no target asked for are dropped.
    for (const grad::Handle h : line.results) {
      if (uses_[h] == 0) ledger_.tape.end_fresh(values_[h]);
    }
    ledger_.write_idle_frees(out_);
  }

  // Writes the lines that compute what this line reads and nothing holds.
  void recompute_operands(const grad::GradientLine& line) {
    if (ledger_.recipes.is_empty()) return;
    const auto end_line = [this](const std::string& notes, std::string& out) {
      notes_.end_line(notes, out);
    };
    for (const grad::GradientOperand& o : line.operands) {
      if (o.kind == Kind::kForward) ledger_.recompute(o.id, end_line, out_);
    }
  }

  // Binds one name to what several names hold, rank by rank.
  void write_pieces(const grad::GradientLine& line) {
    const grad::Handle h = line.results[0];
    struct Part {
      std::string ranks, tail;
      bool is_made;  // made by a line of its own, as zeros
    };
    std::vector<Part> parts;
    std::vector<ValueId> values;
    std::string text = "r@" + line.ranks + " = pieces";
    for (const grad::GradientOperand& o : line.operands) {
      const bool own = o.kind == Kind::kHandle && into_[o.id] == h;
      if (o.kind == Kind::kHandle) {
        values.push_back(values_[o.id]);
        text += " x@" + o.ranks;
      }
      if (own) continue;
      const bool is_made = o.kind == Kind::kText;
      parts.push_back({o.ranks,
                       is_made ? o.text : "copy " + name_of(o, line.ranks),
                       is_made});
    }
    define_pieces(line, text, values);
    for (uint32_t u = 0; u < uses_[h]; ++u) ledger_.tape.add_read(values_[h]);
    finish_reads(line);
    std::string before;
    const std::string name = name_result(h, before);
    const std::string notes = line.notes + " #bwd";
    out_ += before;
    for (const auto& [ranks, tail, is_made] : parts) {
      out_ += full_name(name, ranks) + " = " + tail;
      notes_.end_line(
          notes +
              (is_made ? type_notes(ledger_.mesh_ids[line.mesh], line) : "") +
              target_notes(h),
          out_);
    }
    if (uses_[h] == 0) ledger_.tape.end_fresh(values_[h]);
    ledger_.write_idle_frees(out_);
  }

  // ---- values ---------------------------------------------------------------

  // Makes the line's values, with a history only if the gradient is to have
  // one.
  void define(const grad::GradientLine& line) {
    if (ledger_.usage.counts) count(line);
    if (targets_.retain) return define_recorded(line);
    for (const grad::Handle h : line.results) values_[h] = leaf(h);
  }

  // Returns null for kNil.
  const Type* type_of(ValueId v) const {
    return v == kNil ? nullptr : &ledger_.types[ledger_.tape.type(v)];
  }

  // Counts the cost of a line: as usual for a line without ranks, and for one
  // with ranks the bytes that it reads and writes.
  void count(const grad::GradientLine& line) {
    std::vector<const Type*> types;
    uint64_t bytes = 0;
    for (const grad::GradientOperand& o : line.operands) {
      const ValueId v = value_of(o);
      if (v != kNil) bytes += ledger_.bytes_of(ledger_.tape.type(v));
      types.push_back(type_of(v));
    }
    for (const grad::Handle h : line.results) {
      bytes += ledger_.bytes_of(program_.handle_types[h]);
    }
    const Line written = written_line(line, line.results.size());
    Call call;
    const bool is_bound =
        line.ranks.empty() && gt::bind(written, types, call).ok();
    ledger_.usage.cost += is_bound ? line_cost(call) : bytes / 10;
  }

  ValueId leaf(grad::Handle h) {
    const TypeId type = program_.handle_types[h];
    return ledger_.tape.add_leaf(type, is_float(ledger_.types[type].dtype),
                                 origin_);
  }

  void define_pieces(const grad::GradientLine& line, const std::string& text,
                     const std::vector<ValueId>& values) {
    const grad::Handle h = line.results[0];
    if (!targets_.retain || values.empty()) {
      values_[h] = leaf(h);
      return;
    }
    grad::Form form;
    form.line = text;
    form.mesh = line.mesh;
    if (parts_.recorder.shows()) form.shown = text;
    values_[h] = ledger_.tape.join(std::move(form), program_.handle_types[h],
                                   values, origin_);
  }

  void define_recorded(const grad::GradientLine& line) {
    const Line written = written_line(line, line.results.size());
    std::vector<ValueId> operands;
    std::vector<const Type*> types;
    for (const grad::GradientOperand& o : line.operands) {
      operands.push_back(value_of(o));
      types.push_back(type_of(operands.back()));
    }
    Call call;
    GT_CHECK(bind_form(written, types, call).ok());
    std::vector<TypeId> result_types;
    for (const grad::Handle h : line.results) {
      result_types.push_back(program_.handle_types[h]);
    }
    std::vector<ValueId> results;
    parts_.recorder.record({written, call, operands, result_types,
                            ledger_.mesh_ids[line.mesh], origin_},
                           results);
    for (size_t r = 0; r < line.results.size(); ++r) {
      values_[line.results[r]] = results[r];
    }
  }

  void finish_reads(const grad::GradientLine& line) {
    for (const grad::GradientOperand& o : line.operands) {
      if (o.kind != Kind::kText) ledger_.tape.drop_read(value_of(o));
    }
  }

  // Writes a gradient under a second name, or that of a target that was not
  // reached.
  void write_rest(size_t t) {
    const grad::Handle h = program_.targets[t];
    if (h != kNil && first_target(t) == t) return;
    const Name& name = line_.results[t];
    if (h == kNil) {
      parts_.messages.warn("grad: the loss does not depend on " +
                               std::string(target_text(t)) +
                               "; its gradient is zeros",
                           origin_, text_);
      const ValueId v = ledger_.tape.add_leaf(zeros_[t].type, true, origin_);
      return write_as(name, v, zeros_[t].lines, t);
    }
    const TypeId type = program_.handle_types[h];
    const std::string text = "copy " + ledger_.name_of(values_[h], name.ranks);
    write_as(name, ledger_.tape.add_leaf(type, true, origin_),
             {{std::string(name.ranks), text}}, t);
    ledger_.tape.drop_read(values_[h]);
    ledger_.write_idle_frees(out_);
  }

  void write_as(const Name& name, ValueId v,
                const std::vector<std::pair<std::string, std::string>>& lines,
                size_t t) {
    std::string before;
    ledger_.bind(name.text, ledger_.types.ranks(ledger_.tape.type(v)), v, false,
                 origin_, before);
    out_ += before;
    for (const auto& [ranks, text] : lines) {
      out_ += full_name(name.text, ranks) + " = " + text;
      notes_.end_line(" #bwd" + grad_note(t) + notes_.take(), out_);
    }
    is_bound_[t] = true;
    ledger_.write_idle_frees(out_);
  }

  const GradientParts& parts_;
  Ledger& ledger_;
  const Line& line_;  // the line of the grad
  const std::string_view text_;
  const Mesh* mesh_;
  Origin origin_;
  const grad::GradientProgram& program_;
  const GradientTargets& targets_;
  std::string& out_;
  GradientNotes notes_;
  std::unordered_map<grad::Handle, size_t> target_of_;  // the first target of
                                                        // each handle
  std::vector<ValueId> values_;                         // by handle
  std::vector<uint32_t> uses_;                          // by handle
  std::vector<grad::Handle> into_;  // by handle: what it is a part of, or kNil
  std::vector<std::string> names_;  // by handle: its internal name
  std::vector<bool> is_bound_;      // by target: its result has been written
  std::unordered_multimap<std::string_view, size_t> results_named_;
  std::vector<TargetZeros> zeros_;  // by target
};

}  // namespace

void write_gradient(const GradientParts& parts, const LineState& state,
                    const grad::GradientProgram& program,
                    const GradientTargets& targets, std::string& out) {
  GradientWriter(parts, state, program, targets, out).run();
}

}  // namespace gt::emit
