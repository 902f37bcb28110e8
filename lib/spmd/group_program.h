// The program that computes results of a collective from the pieces of its
// operand: Steps (ops/text.h) of ordinary ops.
//
// Summands are always combined in one fixed binary tree over the order of the
// group's ranks: first half plus second half, recursively; the first half has
// one more if their number is odd. Floating-point addition is not associative,
// so the same tree everywhere makes results equal, bit for bit, in one process
// or in many, whatever carries the bytes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ops/text.h"
#include "spmd/group_form.h"

namespace gt {

// A program. In its steps, a Ref to operand i is the piece of the i-th rank of
// the group, or the i-th read of an ExchangeTask.
struct GroupProgram {
  std::vector<Step> steps;
  size_t results = 0;
};

// Returns the types of the results, inferred step by step. Errors: as
// bind_step().
Result<std::vector<Type>> program_types(const GroupProgram& program,
                                        const std::vector<Type>& pieces);

// The members of a group, from `begin` to before `end`, that one summand stands
// for: one member, a leaf of the fixed tree, or a whole subtree, whose members
// were combined before.
struct Subtree {
  size_t begin = 0;
  size_t end = 0;
};
// Returns a subtree for each of these members alone.
std::vector<Subtree> leaves(size_t begin, size_t end);

// Returns where the second half of the fixed tree over these members begins.
inline size_t tree_middle(size_t begin, size_t end) {
  return begin + (end - begin + 1) / 2;
}

inline Ref piece_ref(size_t i) {
  return {Ref::Kind::kOperand, static_cast<uint32_t>(i)};
}

// Make steps without results; ProgramWriter::set() or give() adds the result.
Step step_of(const char* op, const std::vector<Ref>& operands,
             std::vector<std::pair<std::string, std::string>> keys = {});
Step copy_of(const Ref& value);
Step zeros_of(const Type& type);
// Joins all pieces along the axis by `op`, "concat" or "stack".
Step joined(const char* op, size_t pieces, size_t axis);
// Takes a slice along one dimension: `what` is a range "0:4", or an index "2",
// which drops the dimension.
Step slice_of(const Ref& value, size_t dims, size_t dim,
              const std::string& what);
inline std::string range(int64_t begin, int64_t end) {
  return std::to_string(begin) + ":" + std::to_string(end);
}

// Writes a program step by step.
class ProgramWriter {
 public:
  // Writes the step with a new temporary as its result, and returns that.
  Ref set(Step step);
  // Writes the step with a result of the program as its result.
  void give(size_t result, Step step);
  // Does the same as set(), except that for a copy it writes no step and
  // returns the copy's operand.
  Ref value_of(Step step);

  // Writes all steps of a program of one result over these pieces, except the
  // last, which would give the result. Returns that last step.
  Step insert(const GroupProgram& program, const std::vector<Ref>& pieces);

  // Writes the fixed tree over pieces of these types and returns its root.
  // Piece i stands for the members of subtrees[i]; together they cover the
  // group in its order, of so many members. For op=mean each member's piece is
  // divided by their number before it is added, so that no sum leaves the range
  // of its dtype on the way to a mean that does not.
  Ref combine(const GroupForm& form, const std::vector<Type>& pieces,
              const std::vector<Subtree>& subtrees, size_t members);
  // Writes what follows when all members are combined: a cast for out=.
  Ref finish_sum(const GroupForm& form, const Ref& value);
  Ref cast(const Ref& value, Dtype dtype);
  // Returns the step that puts a member's piece in its place of the form's
  // cuts, with zeros elsewhere.
  Step own_place(const GroupForm& form, Ref piece, size_t dims, size_t member);

  // Returns the program as written, with `results` results; the writer is empty
  // again.
  GroupProgram take(size_t results);

 private:
  GroupProgram program_;
  uint32_t temporaries_ = 0;
};

}  // namespace gt
