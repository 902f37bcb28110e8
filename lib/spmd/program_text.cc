#include "spmd/program_text.h"

#include "ops/shape_rules.h"

namespace gt {

std::vector<Subtree> leaves(size_t begin, size_t end) {
  std::vector<Subtree> out;
  for (size_t i = begin; i < end; ++i) out.push_back({i, i + 1});
  return out;
}

std::string ProgramText::set(const std::string& instruction) {
  std::string name = "t" + std::to_string(next_++);
  program_.lines.push_back(name + " = " + instruction);
  return name;
}

void ProgramText::give(size_t result, const std::string& instruction) {
  program_.lines.push_back("r" + std::to_string(result) + " = " + instruction);
}

std::string ProgramText::cast(const std::string& value, Dtype dtype) {
  return set("cast " + value + " " + std::string(to_string(dtype)));
}

std::string ProgramText::combine(const GroupForm& form,
                                 const std::vector<Type>& pieces,
                                 const std::vector<Subtree>& subtrees) {
  std::vector<std::string> names;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Dtype summed = form.summed(pieces[i].dtype);
    names.push_back(piece(i));
    if (summed != pieces[i].dtype) names.back() = cast(piece(i), summed);
  }
  Tree tree{subtrees, names, form.combine};
  return combine(tree, subtrees.front().begin, subtrees.back().end);
}

std::string ProgramText::combine(Tree& tree, size_t begin, size_t end) {
  const Subtree& first = tree.subtrees[tree.next];
  if (first.begin == begin && first.end == end) return tree.names[tree.next++];
  const size_t middle = tree_middle(begin, end);
  const std::string left = combine(tree, begin, middle);
  const std::string right = combine(tree, middle, end);
  return set(tree.op + " " + left + " " + right);
}

std::string ProgramText::finish_sum(const GroupForm& form, std::string value,
                                    size_t members) {
  if (form.is_mean) {
    value = set("div " + value + " " + std::to_string(members));
  }
  return form.out.has_value() ? cast(value, *form.out) : value;
}

GroupProgram ProgramText::take(size_t results) {
  program_.results = results;
  return std::move(program_);
}

std::string joined(const char* op, size_t pieces, size_t axis) {
  std::string out = op;
  for (size_t i = 0; i < pieces; ++i) out += " " + ProgramText::piece(i);
  return out + " axis=" + std::to_string(axis);
}

std::string along(size_t dims, size_t dim, const std::string& what) {
  std::string out;
  for (size_t d = 0; d < dims; ++d) out += d == dim ? " " + what : " :";
  return out;
}

std::string own_place(ProgramText& text, const GroupForm& form,
                      const std::string& piece, size_t dims, size_t member) {
  std::string part = piece;
  if (form.is_sliced) {
    part = text.set("unsqueeze " + piece + " axis=" + std::to_string(form.dim));
    ++dims;
  }
  std::vector<int64_t> width(2 * dims, 0);
  width[2 * form.dim] = form.cuts[member];
  width[2 * form.dim + 1] = form.cuts.back() - form.cuts[member + 1];
  return "pad " + part + " width=" + list_text(width);
}

}  // namespace gt
