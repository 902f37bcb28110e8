#include "spmd/group_program.h"

#include "ops/shape_rules.h"
#include "ops/step_values.h"
#include "ops/table.h"

namespace gt {
namespace {

StepOperand word(std::string text) {
  StepOperand operand;
  operand.is_ref = false;
  operand.text = std::move(text);
  return operand;
}

// Combines operands, each of which stands for a subtree of the members.
class Tree {
 public:
  Tree(ProgramWriter& writer, const GroupForm& form,
       const std::vector<Subtree>& subtrees, const std::vector<Ref>& operands)
      : writer_(writer),
        op_(form.combine.c_str()),
        subtrees_(subtrees),
        operands_(operands) {}

  Ref combine(size_t begin, size_t end) {
    const Subtree& first = subtrees_[next_];
    if (first.begin == begin && first.end == end) return operands_[next_++];
    const size_t middle = tree_middle(begin, end);
    const Ref left = combine(begin, middle);
    const Ref right = combine(middle, end);
    return writer_.set(step_of(op_, {left, right}));
  }

 private:
  ProgramWriter& writer_;
  const char* op_;
  const std::vector<Subtree>& subtrees_;
  const std::vector<Ref>& operands_;
  size_t next_ = 0;
};

}  // namespace

Result<std::vector<Type>> program_types(const GroupProgram& program,
                                        const std::vector<Type>& pieces) {
  StepValues<Type> types(pieces);
  Call call;
  for (const Step& step : program.steps) {
    std::vector<const Type*> operands;
    for (const StepOperand& o : step.operands) {
      operands.push_back(o.is_ref ? &types[o.ref] : nullptr);
    }
    if (Status s = bind_step(step, operands, call); !s.ok()) return s.error();
    types.set(step.results[0], call.results[0]);
  }
  std::vector<Type> results;
  for (uint32_t i = 0; i < program.results; ++i) {
    results.push_back(types[{Ref::Kind::kResult, i}]);
  }
  return results;
}

std::vector<Subtree> leaves(size_t begin, size_t end) {
  std::vector<Subtree> out;
  for (size_t i = begin; i < end; ++i) out.push_back({i, i + 1});
  return out;
}

Step step_of(const char* op, const std::vector<Ref>& operands,
             std::vector<std::pair<std::string, std::string>> keys) {
  Step step;
  step.op = find_op(op);
  for (const Ref& ref : operands) step.operands.push_back({true, ref, ""});
  step.keys = std::move(keys);
  return step;
}

Step copy_of(const Ref& value) { return step_of("copy", {value}); }

Step zeros_of(const Type& type) {
  Step step = step_of("zeros", {});
  step.operands.push_back(word(to_string(type)));
  return step;
}

Step joined(const char* op, size_t pieces, size_t axis) {
  std::vector<Ref> all;
  for (size_t i = 0; i < pieces; ++i) all.push_back(piece_ref(i));
  return step_of(op, all, {{"axis", std::to_string(axis)}});
}

Step slice_of(const Ref& value, size_t dims, size_t dim,
              const std::string& what) {
  Step step = step_of("slice", {value});
  for (size_t d = 0; d < dims; ++d) {
    step.operands.push_back(word(d == dim ? what : ":"));
  }
  return step;
}

Ref ProgramWriter::set(Step step) {
  step.results = {{Ref::Kind::kTemp, temporaries_++}};
  program_.steps.push_back(std::move(step));
  return program_.steps.back().results[0];
}

void ProgramWriter::give(size_t result, Step step) {
  step.results = {{Ref::Kind::kResult, static_cast<uint32_t>(result)}};
  program_.steps.push_back(std::move(step));
}

Ref ProgramWriter::value_of(Step step) {
  const bool is_copy = step.op->row->collective == Collective::kCopy;
  return is_copy ? step.operands[0].ref : set(std::move(step));
}

Step ProgramWriter::insert(const GroupProgram& program,
                           const std::vector<Ref>& pieces) {
  StepValues<Ref> values(pieces);
  for (Step step : program.steps) {
    for (StepOperand& o : step.operands) {
      if (o.is_ref) o.ref = values[o.ref];
    }
    if (step.results[0].kind == Ref::Kind::kResult) return step;
    const Ref own = step.results[0];
    values.set(own, set(std::move(step)));
  }
  GT_CHECK(false);
  __builtin_unreachable();
}

Ref ProgramWriter::cast(const Ref& value, Dtype dtype) {
  Step step = step_of("cast", {value});
  step.operands.push_back(word(std::string(to_string(dtype))));
  return set(std::move(step));
}

Ref ProgramWriter::combine(const GroupForm& form,
                           const std::vector<Type>& pieces,
                           const std::vector<Subtree>& subtrees,
                           size_t members) {
  std::vector<Ref> operands;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Dtype summed = form.summed(pieces[i].dtype);
    const bool fits = summed == pieces[i].dtype;
    Ref value = fits ? piece_ref(i) : cast(piece_ref(i), summed);
    const bool is_member = subtrees[i].end - subtrees[i].begin == 1;
    if (form.is_mean && is_member) {
      Step share = step_of("div", {value});
      share.operands.push_back(word(std::to_string(members)));
      value = set(std::move(share));
    }
    operands.push_back(value);
  }
  return Tree(*this, form, subtrees, operands)
      .combine(subtrees.front().begin, subtrees.back().end);
}

Ref ProgramWriter::finish_sum(const GroupForm& form, const Ref& value) {
  return form.out.has_value() ? cast(value, *form.out) : value;
}

Step ProgramWriter::own_place(const GroupForm& form, Ref piece, size_t dims,
                              size_t member) {
  if (form.is_sliced) {
    piece = set(
        step_of("unsqueeze", {piece}, {{"axis", std::to_string(form.dim)}}));
    ++dims;
  }
  std::vector<int64_t> width(2 * dims, 0);
  width[2 * form.dim] = form.cuts[member];
  width[2 * form.dim + 1] = form.cuts.back() - form.cuts[member + 1];
  return step_of("pad", {piece}, {{"width", list_text(width)}});
}

GroupProgram ProgramWriter::take(size_t results) {
  program_.results = results;
  return std::move(program_);
}

}  // namespace gt
