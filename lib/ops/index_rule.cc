#include "ops/index_rule.h"

#include <algorithm>
#include <map>
#include <string>

#include "ops/shape_rules.h"

namespace gt {
namespace {

// The index terms of a call's arguments and results, taken from those of its
// op.
class Terms {
 public:
  explicit Terms(const Call& call) : call_(call) {
    size_t next = 0;
    for (const Parameter& p : call.op->operands) {
      of_operand_.push_back(p.role == Role::kTensor &&
                                    next < call.op->operand_terms.size()
                                ? &call.op->operand_terms[next]
                                : nullptr);
      if (p.role == Role::kTensor) ++next;
    }
  }
  const Term* argument(size_t i) const {
    if (!is_tensor(call_.arguments[i])) return nullptr;
    return of_operand_[call_.op->parameter_of(i, call_.arguments.size())];
  }
  const Term* result(size_t r) const {
    const size_t p = call_.op->result_parameter_of(r, call_.result_count);
    return p < call_.op->result_terms.size() ? &call_.op->result_terms[p]
                                             : nullptr;
  }

 private:
  const Call& call_;
  std::vector<const Term*> of_operand_;
};

// The places of a term's dimensions: by letter, or, for the broadcast dimension
// number j from the last, by -1 - j.
using Letters = std::map<int, int32_t>;

Letters letters_of(const Term& term, size_t rank, bool exchanged) {
  Letters out;
  if (rank < term.letters.size()) return out;
  const size_t lead = rank - term.letters.size();
  for (size_t k = 0; k < term.letters.size(); ++k) {
    const size_t dim = exchanged ? rank - 1 - k : lead + k;
    out[term.letters[k]] = static_cast<int32_t>(dim);
  }
  if (!term.broadcast) return out;
  for (size_t j = 0; j < lead; ++j) {
    out[-1 - static_cast<int>(j)] = static_cast<int32_t>(lead - 1 - j);
  }
  return out;
}

bool is_whole(const Term& term, int letter) {
  for (size_t k = 0; k < term.letters.size(); ++k) {
    if (term.letters[k] == letter && term.whole[k]) return true;
  }
  return false;
}

// True if the row is linear in arguments i and j together.
bool added_together(const Call& call, size_t i, size_t j) {
  const size_t n = call.arguments.size();
  const char a = static_cast<char>('0' + call.op->parameter_of(i, n));
  const char b = static_cast<char>('0' + call.op->parameter_of(j, n));
  for (const std::string_view set : linear_sets(*call.op)) {
    if (set.find(a) != set.npos && set.find(b) != set.npos) return true;
  }
  return false;
}

void find_added(const Call& call, Label& label) {
  label.added.assign(call.arguments.size(), false);
  if (!label.is_summed) return;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i]) || label.arguments[i].is_there()) {
      continue;
    }
    for (size_t j = 0; j < call.arguments.size(); ++j) {
      if (label.arguments[j].is_there() && added_together(call, i, j)) {
        label.added[i] = true;
      }
    }
  }
}

// True if a coordinate of the label has no index in some tensor, such as a head
// of width 0: such a label cannot be cut.
bool has_no_unit(const Label& label) {
  const auto none = [](const LabelDim& p) { return p.unit == 0; };
  return std::any_of(label.arguments.begin(), label.arguments.end(), none) ||
         std::any_of(label.results.begin(), label.results.end(), none);
}

// Adds the label of one letter, unless its dimension must be whole.
void add_letter(const Call& call, const Terms& terms, int letter,
                std::vector<Label>& labels) {
  Label label(call, 1);
  const auto place = [&](const Term* term, const Type& type, bool exchanged,
                         LabelDim& out) {
    if (term == nullptr) return true;
    const Letters at = letters_of(*term, type.shape.size(), exchanged);
    const auto it = at.find(letter);
    if (it == at.end()) return true;
    if (is_whole(*term, letter)) return false;
    out.dim = it->second;
    label.size = std::max(label.size, type.shape[static_cast<size_t>(out.dim)]);
    if (type.shape[static_cast<size_t>(out.dim)] == 0) label.size = 0;
    return true;
  };
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!place(terms.argument(i), call.type(i), is_exchanged(call, i),
               label.arguments[i])) {
      return;
    }
  }
  for (size_t r = 0; r < call.results.size(); ++r) {
    if (!place(terms.result(r), call.results[r], false, label.results[r])) {
      return;
    }
    label.is_summed |= !label.results[r].is_there();
  }
  // Each rank reads a dimension of size 1 beside a larger one whole.
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    LabelDim& p = label.arguments[i];
    if (!p.is_there() || label.size == 1) continue;
    if (call.type(i).shape[static_cast<size_t>(p.dim)] != label.size) p = {};
  }
  labels.push_back(std::move(label));
}

std::vector<int64_t> axes_of(const Call& call, size_t i) {
  const auto axes = axis_list(call, i);
  return axes.ok() ? axes.value() : std::vector<int64_t>{};
}

// Returns the index of x, the operand of a reduction over axis= that is not
// reduced yet.
size_t reduced_argument(const Call& call) {
  for (size_t i = 0; i < call.op->operands.size(); ++i) {
    if (call.op->operands[i].name == "x") return i;
  }
  return 0;
}

enum class Reduced { kWhole, kSummed, kExtreme };

std::vector<Label> labels_reduced(const Call& call, Reduced how) {
  const size_t x = reduced_argument(call);
  const Shape& shape = call.type(x).shape;
  const std::vector<int64_t> axes = axes_of(call, x);
  const bool keeps = call.flag("keepdims");
  std::vector<Label> labels;
  int32_t next = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool goes = std::find(axes.begin(), axes.end(),
                                static_cast<int64_t>(d)) != axes.end();
    const int32_t reduced = goes && !keeps ? -1 : next++;
    if (goes && how == Reduced::kWhole) continue;
    Label label(call, shape[d]);
    label.is_summed = goes && how == Reduced::kSummed;
    if (goes && how == Reduced::kExtreme) {
      label.extreme = call.op->name;
      label.is_never_empty = true;
    }
    const auto place = [&](const Type& type, LabelDim& out) {
      if (type.shape == shape && !goes) {
        out.dim = static_cast<int32_t>(d);
      } else if (!goes) {
        out.dim = reduced;
      }
    };
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (is_tensor(call.arguments[i])) {
        place(call.type(i), label.arguments[i]);
      }
    }
    label.arguments[x].dim = static_cast<int32_t>(d);
    for (size_t r = 0; r < call.results.size(); ++r) {
      place(call.results[r], label.results[r]);
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace

Label::Label(const Call& call, int64_t n)
    : size(n), arguments(call.arguments.size()), results(call.results.size()) {}

std::vector<Label> labels_by_terms(const Call& call) {
  const Terms terms(call);
  Letters all;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (const Term* term = terms.argument(i)) {
      all.merge(letters_of(*term, call.type(i).shape.size(), false));
    }
  }
  for (size_t r = 0; r < call.results.size(); ++r) {
    if (const Term* term = terms.result(r)) {
      all.merge(letters_of(*term, call.results[r].shape.size(), false));
    }
  }
  std::vector<Label> labels;
  for (const auto& [letter, dim] : all) {
    add_letter(call, terms, letter, labels);
  }
  return labels;
}

std::vector<Label> labels_along_axis(const Call& call) {
  const size_t rank = call.type(0).shape.size();
  const std::vector<int64_t> axes = axes_of(call, 0);
  std::vector<int32_t> to;
  for (size_t d = 0; d < rank; ++d) {
    const bool whole = std::find(axes.begin(), axes.end(),
                                 static_cast<int64_t>(d)) != axes.end();
    to.push_back(whole ? -1 : static_cast<int32_t>(d));
  }
  return labels_moved(call, to);
}

std::vector<Label> labels_kept(const Call& call) {
  return labels_reduced(call, Reduced::kWhole);
}

std::vector<Label> labels_summed(const Call& call) {
  return labels_reduced(call, Reduced::kSummed);
}

std::vector<Label> labels_extreme(const Call& call) {
  return labels_reduced(call, Reduced::kExtreme);
}

std::vector<Label> labels_moved(const Call& call, std::span<const int32_t> to) {
  std::vector<Label> labels;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] < 0) continue;
    Label label(call, call.type(0).shape[d]);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (!is_tensor(call.arguments[i])) continue;
      if (call.type(i).shape.size() == to.size()) {
        label.arguments[i].dim = static_cast<int32_t>(d);
      }
    }
    for (LabelDim& place : label.results) place.dim = to[d];
    labels.push_back(std::move(label));
  }
  return labels;
}

std::vector<Label> labels_none(const Call&) { return {}; }

std::vector<Label> index_rule(const Call& call) {
  const auto rule = call.op->row->labels;
  std::vector<Label> labels =
      rule != nullptr ? rule(call) : labels_by_terms(call);
  std::erase_if(labels, has_no_unit);
  for (Label& label : labels) find_added(call, label);
  return labels;
}

}  // namespace gt
