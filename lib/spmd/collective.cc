#include "spmd/collective.h"

#include <unordered_map>

#include "ops/call.h"
#include "spmd/program_text.h"
#include "stream/line.h"

namespace gt {
namespace {

// Ranks of an exchange: each sends a part to each, a line for each pair.
constexpr size_t kMaxExchange = 512;

// Writes the lines of one group from its form.
class GroupWriter {
 public:
  GroupWriter(const GroupForm& form, const std::vector<Type>& pieces,
              size_t results)
      : form_(form), pieces_(pieces), n_(results) {}

  GroupProgram write() {
    using Kind = GroupForm::Kind;
    std::string sum;
    if (form_.sums()) {
      sum = text_.combine(form_, pieces_, leaves(0, n_));
      sum = text_.finish_sum(form_, sum, n_);
    }
    if (form_.kind == Kind::kGather) sum = gathered();
    for (size_t i = 0; i < n_; ++i) text_.give(i, member(i, sum));
    return text_.take(n_);
  }

 private:
  static std::string piece(size_t i) { return ProgramText::piece(i); }
  size_t rank() const { return pieces_[0].shape.size(); }
  std::string zeros(size_t i) const {
    const Type& type = pieces_[i];
    return "zeros " + to_string(Type{form_.result(type.dtype), type.shape});
  }

  // The instruction that gives member i its result; `all` is what the group
  // makes together.
  std::string member(size_t i, const std::string& all) {
    using Kind = GroupForm::Kind;
    switch (form_.kind) {
      case Kind::kSame:
        return "copy " + piece(i);
      case Kind::kRoot:
        return "copy " + piece(form_.root);
      case Kind::kFirst:
        return i == 0 ? "copy " + piece(0) : zeros(i);
      case Kind::kOwnPlace:
        return own_place(text_, form_, piece(i), rank(), i);
      case Kind::kSum:
      case Kind::kGather:
        return "copy " + all;
      case Kind::kReduce:
        return i == form_.root ? "copy " + all : zeros(i);
      case Kind::kSumScatter:
        return part(all, i, i);
      case Kind::kScatter:
        return part(piece(i), i, i);
      case Kind::kExchange:
        return exchanged(i);
    }
    __builtin_unreachable();
  }

  std::string gathered() {
    const std::string all =
        text_.set(joined(form_.is_sliced ? "stack" : "concat", n_, form_.dim));
    return form_.out.has_value() ? text_.cast(all, *form_.out) : all;
  }

  // Member `to`'s part of a value of member `from`.
  std::string part(const std::string& value, size_t from, size_t to) const {
    const auto& cuts =
        form_.row_cuts.empty() ? form_.cuts : form_.row_cuts[from];
    return "slice " + value +
           along(rank(), form_.dim,
                 form_.is_sliced ? std::to_string(cuts[to])
                                 : range(cuts[to], cuts[to + 1]));
  }

  std::string exchanged(size_t i) {
    std::string parts = form_.is_sliced ? "stack" : "concat";
    for (size_t j = 0; j < n_; ++j) {
      parts += " " + text_.set(part(piece(j), j, i));
    }
    return parts + " axis=" + std::to_string(form_.join);
  }

  const GroupForm& form_;
  const std::vector<Type>& pieces_;
  const size_t n_;
  ProgramText text_;
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

Result<std::vector<Type>> program_types(const GroupProgram& program,
                                        const std::vector<Type>& arguments) {
  std::unordered_map<std::string, Type> types;
  for (size_t i = 0; i < arguments.size(); ++i) {
    types["a" + std::to_string(i)] = arguments[i];
  }
  Line line;
  Call call;
  for (const std::string& text : program.lines) {
    if (Status s = parse_line(text, line); !s.ok()) return s.error();
    std::vector<const Type*> operands;
    for (const Operand& operand : line.operands) {
      const auto it = types.find(std::string(operand.text));
      operands.push_back(it == types.end() ? nullptr : &it->second);
    }
    if (Status s = gt::bind(line, operands, call); !s.ok()) {
      return Error{s.error().message};
    }
    types[std::string(line.results[0].text)] = call.results[0];
  }
  std::vector<Type> results;
  for (size_t i = 0; i < program.results; ++i) {
    results.push_back(types.at("r" + std::to_string(i)));
  }
  return results;
}

}  // namespace gt
