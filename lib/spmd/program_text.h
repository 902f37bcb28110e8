// Lines over the pieces a0, a1, ... of a group that give r0, r1, ...: what the
// programs of a whole group and of one member have in common.
#pragma once

#include <string>
#include <vector>

#include "spmd/collective.h"
#include "spmd/group_form.h"

namespace gt {

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

class ProgramText {
 public:
  static std::string piece(size_t i) { return "a" + std::to_string(i); }

  // A line that binds a new name, which is returned.
  std::string set(const std::string& instruction);
  // The line that binds a result.
  void give(size_t result, const std::string& instruction);

  // The pieces a0, a1, ... of these types combined in the fixed tree; each
  // stands for the members of one subtree, which cover all in order.
  std::string combine(const GroupForm& form, const std::vector<Type>& pieces,
                      const std::vector<Subtree>& subtrees);
  // What follows when all members are combined: op=mean divides, out= casts.
  std::string finish_sum(const GroupForm& form, std::string value,
                         size_t members);
  std::string cast(const std::string& value, Dtype dtype);

  GroupProgram take(size_t results);

 private:
  struct Tree {
    const std::vector<Subtree>& subtrees;
    const std::vector<std::string>& names;
    const std::string& op;
    size_t next = 0;  // subtree
  };
  std::string combine(Tree& tree, size_t begin, size_t end);

  GroupProgram program_;
  size_t next_ = 0;
};

// "concat a0 a1 axis=0".
std::string joined(const char* op, size_t pieces, size_t axis);
// Operands of `slice` that take `what` of one dimension: a range, or an index,
// which drops it.
std::string along(size_t dims, size_t dim, const std::string& what);
inline std::string range(int64_t begin, int64_t end) {
  return std::to_string(begin) + ":" + std::to_string(end);
}
// A piece in its own place of the form's cuts, zeros elsewhere.
std::string own_place(ProgramText& text, const GroupForm& form,
                      const std::string& piece, size_t dims, size_t member);

}  // namespace gt
