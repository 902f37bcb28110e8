// The program of a group, or of one of its members: steps over the pieces of
// the operand, in the group's order, that give the results.
//
// The order of sums is first half plus second half, recursively.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ops/text.h"
#include "spmd/group_form.h"

namespace gt {

// Its refs: an operand is a piece, by its place in the group.
struct GroupProgram {
  std::vector<Step> steps;
  size_t results = 0;
};

// Types of the results, by the op table's rules for the steps.
Result<std::vector<Type>> program_types(const GroupProgram& program,
                                        const std::vector<Type>& pieces);

// Members whose values are one operand: a leaf of the fixed tree, or a whole
// subtree that was combined before.
struct Subtree {
  size_t begin = 0;
  size_t end = 0;
};
std::vector<Subtree> leaves(size_t begin, size_t end);

// Where the fixed tree splits its members: the first half is the larger.
inline size_t tree_middle(size_t begin, size_t end) {
  return begin + (end - begin + 1) / 2;
}

inline Ref piece_ref(size_t i) {
  return {Ref::Kind::kOperand, static_cast<uint32_t>(i)};
}

// A step whose results are not known yet.
Step step_of(const char* op, const std::vector<Ref>& operands,
             std::vector<std::pair<std::string, std::string>> keys = {});
Step copy_of(const Ref& value);
Step zeros_of(const Type& type);
// `op`, concat or stack, of all pieces.
Step joined(const char* op, size_t pieces, size_t axis);
// The part of one dimension that `what` takes: a range as "0:4", or an index,
// which drops the dimension.
Step slice_of(const Ref& value, size_t dims, size_t dim,
              const std::string& what);
inline std::string range(int64_t begin, int64_t end) {
  return std::to_string(begin) + ":" + std::to_string(end);
}

// Writes a program step by step.
class ProgramWriter {
 public:
  // The step's result, a new temporary.
  Ref set(Step step);
  // The step that gives a result.
  void give(size_t result, Step step);
  // The value that the step makes: of a copy, which need not be made, that of
  // its operand.
  Ref value_of(Step step);

  // A program of one result over these pieces: writes all of its steps but the
  // last, which gives the result and is returned.
  Step insert(const GroupProgram& program, const std::vector<Ref>& pieces);

  // Pieces of these types combined in the fixed tree; each stands for the
  // members of one subtree, which cover all in order.
  Ref combine(const GroupForm& form, const std::vector<Type>& pieces,
              const std::vector<Subtree>& subtrees);
  // What follows when all members are combined: op=mean divides, out= casts.
  Ref finish_sum(const GroupForm& form, Ref value, size_t members);
  Ref cast(const Ref& value, Dtype dtype);
  // Member `member`'s piece in its own place of the form's cuts, zeros
  // elsewhere.
  Step own_place(const GroupForm& form, Ref piece, size_t dims, size_t member);

  GroupProgram take(size_t results);

 private:
  GroupProgram program_;
  uint32_t temporaries_ = 0;
};

}  // namespace gt
