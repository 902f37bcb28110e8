#include "spmd/collective.h"

namespace gt {
namespace {

// Ranks of an exchange: each sends a part to each, a step for each pair.
constexpr size_t kMaxExchange = 512;

// Writes the steps of one group from its form.
class GroupWriter {
 public:
  GroupWriter(const GroupForm& form, const std::vector<Type>& pieces,
              size_t results)
      : form_(form), pieces_(pieces), n_(results) {}

  GroupProgram write() {
    using Kind = GroupForm::Kind;
    Ref all = piece_ref(0);
    if (form_.sums()) {
      all = writer_.combine(form_, pieces_, leaves(0, n_));
      all = writer_.finish_sum(form_, all, n_);
    }
    if (form_.kind == Kind::kGather) all = gathered();
    for (size_t i = 0; i < n_; ++i) writer_.give(i, member(i, all));
    return writer_.take(n_);
  }

 private:
  size_t rank() const { return pieces_[0].shape.size(); }
  Step zeros(size_t i) const {
    const Type& type = pieces_[i];
    return zeros_of({form_.result(type.dtype), type.shape});
  }

  // The step that gives member i its result; `all` is what the group makes
  // together.
  Step member(size_t i, const Ref& all) {
    using Kind = GroupForm::Kind;
    switch (form_.kind) {
      case Kind::kSame:
        return copy_of(piece_ref(i));
      case Kind::kRoot:
        return copy_of(piece_ref(form_.root));
      case Kind::kFirst:
        return i == 0 ? copy_of(piece_ref(0)) : zeros(i);
      case Kind::kOwnPlace:
        return writer_.own_place(form_, piece_ref(i), rank(), i);
      case Kind::kSum:
      case Kind::kGather:
        return copy_of(all);
      case Kind::kReduce:
        return i == form_.root ? copy_of(all) : zeros(i);
      case Kind::kSumScatter:
        return part(all, i, i);
      case Kind::kScatter:
        return part(piece_ref(i), i, i);
      case Kind::kExchange:
        return exchanged(i);
    }
    __builtin_unreachable();
  }

  Ref gathered() {
    const Ref all = writer_.set(
        joined(form_.is_sliced ? "stack" : "concat", n_, form_.dim));
    return form_.out.has_value() ? writer_.cast(all, *form_.out) : all;
  }

  // Member `to`'s part of a value of member `from`.
  Step part(const Ref& value, size_t from, size_t to) const {
    const auto& cuts =
        form_.row_cuts.empty() ? form_.cuts : form_.row_cuts[from];
    return slice_of(value, rank(), form_.dim,
                    form_.is_sliced ? std::to_string(cuts[to])
                                    : range(cuts[to], cuts[to + 1]));
  }

  Step exchanged(size_t i) {
    std::vector<Ref> parts;
    for (size_t j = 0; j < n_; ++j) {
      parts.push_back(writer_.set(part(piece_ref(j), j, i)));
    }
    return step_of(form_.is_sliced ? "stack" : "concat", parts,
                   {{"axis", std::to_string(form_.join)}});
  }

  const GroupForm& form_;
  const std::vector<Type>& pieces_;
  const size_t n_;
  ProgramWriter writer_;
};

}  // namespace

Result<GroupProgram> group_program(const GroupForm& form,
                                   const std::vector<Type>& pieces,
                                   size_t results) {
  if (form.kind == GroupForm::Kind::kExchange && results > kMaxExchange) {
    return Error{"a group of " + std::to_string(results) +
                 " ranks; an exchange takes at most " +
                 std::to_string(kMaxExchange)};
  }
  return GroupWriter(form, pieces, results).write();
}

}  // namespace gt
