#include "shard/step_form.h"

#include "base/result.h"
#include "ops/families.h"
#include "ops/table.h"
#include "shard/scheduler.h"
#include "stream/line.h"

namespace gt::shard {
namespace {

using Names = std::vector<std::string>;

bool has_any(const std::set<std::string>& all, const Names& names) {
  return std::ranges::any_of(
      names, [&](const std::string& name) { return all.contains(name); });
}

// Chooses lines whose operands are all bound, and the operands of frees.
class BoundLines {
 public:
  // Returns the text of the line, or "" if nothing of it remains.
  std::string take(const std::string& text, const Names& reads,
                   const Names& binds, bool is_free) {
    const bool is_whole = std::ranges::all_of(
        reads, [&](const std::string& name) { return bound_.contains(name); });
    std::string out = text;
    if (is_free) {
      if (!is_whole) out = free_of(reads);
      for (const std::string& name : reads) bound_.erase(name);
      return out;
    }
    if (!is_whole) return "";
    bound_.insert(binds.begin(), binds.end());
    return out;
  }

 private:
  std::string free_of(const Names& names) const {
    std::string out;
    for (const std::string& name : names) {
      if (bound_.contains(name)) out += " " + name;
    }
    return out.empty() ? out : "free" + out;
  }

  std::set<std::string> bound_;
};

}  // namespace

StepForm::StepForm(const std::vector<std::string>& lines) {
  std::set<std::string> targets, updated, summed;
  bool is_forward = true;
  for (const std::string& text : lines) {
    Line line;
    GT_CHECK(parse_line(text, line).ok());
    if (line.kind != Line::Kind::kInstruction) continue;
    Part& part = lines_.emplace_back();
    part.text = text;
    part.microbatch = microbatch_of(line);
    part.is_backward = line.note("bwd") != nullptr;
    part.is_free = statement_of(line.op) == Statement::kFree;
    const Op* op = find_op(line.op);
    part.is_creation = op != nullptr && op->family == &kCreation;
    for (const Operand& o : line.operands) {
      if (o.kind == Operand::Kind::kName) part.reads.emplace_back(o.text);
    }
    for (const Name& name : line.results) part.binds.emplace_back(name.text);
    if (const std::string_view* target = line.note("grad")) {
      targets.insert(unquote(*target));
    }
    is_forward = is_forward && !part.is_backward;
    if (part.microbatch >= 0) microbatches_.insert(part.microbatch);
    const bool is_summed = part.microbatch >= 0 || part.is_backward;
    for (const std::string& name : part.binds) {
      if (is_summed) summed.insert(name);
      if (!is_forward && std::ranges::count(part.reads, name) > 0) {
        updated.insert(name);
      }
    }
  }
  // A sum of gradients begins anew with each step.
  for (const std::string& name : updated) {
    if (!summed.contains(name) || targets.contains(name)) state_.insert(name);
  }
}

size_t StepForm::first_backward() const {
  const auto found = std::ranges::find_if(
      lines_, [](const Part& line) { return line.is_backward; });
  return static_cast<size_t>(found - lines_.begin());
}

bool StepForm::creates_state(const Part& line) const {
  return line.is_creation && has_any(state_, line.binds);
}

TwoSteps StepForm::whole() const {
  TwoSteps out;
  for (const Part& line : lines_) out.lines.push_back({line.text});
  out.second = out.lines.size();
  for (const Part& line : lines_) {
    if (!creates_state(line)) out.lines.push_back({line.text});
  }
  return out;
}

TwoSteps StepForm::brief(size_t most) const {
  TwoSteps out;
  std::set<int64_t> kept = microbatches_;
  while (kept.size() > most) kept.erase(std::prev(kept.end()));
  const int64_t last = kept.empty() ? -1 : *kept.rbegin();
  const auto left_out = static_cast<double>(microbatches_.size() - kept.size());
  BoundLines bound;
  const auto take = [&](const Part& line, bool counts) {
    if (line.microbatch > last) return;
    std::string text =
        bound.take(line.text, line.reads, line.binds, line.is_free);
    if (text.empty()) return;
    const bool is_last = line.microbatch >= 0 && line.microbatch == last;
    out.lines.push_back({std::move(text), !counts   ? 0
                                          : is_last ? 1 + left_out
                                                    : 1});
  };
  const size_t backward = first_backward();
  const bool is_training = backward < lines_.size();
  for (size_t i = 0; i < lines_.size(); ++i) {
    take(lines_[i], !is_training || i >= backward);
  }
  out.second = out.lines.size();
  for (size_t i = 0; is_training && i < backward; ++i) {
    if (!creates_state(lines_[i])) take(lines_[i], true);
  }
  return out;
}

}  // namespace gt::shard
