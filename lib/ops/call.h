// An instruction bound to its op: operands and keys checked, result types
// known. A Call is reused from line to line.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "stream/line.h"

namespace gt {

struct Argument {
  Role role = Role::kTensor;
  bool absent = false;    // an optional operand that was not given
  bool literal = false;   // a number where a tensor could stand
  int32_t operand = -1;   // its index in the line's operands
  Type type;              // of a tensor; of a literal, weak and without dims
  Number number;          // of a literal or kNumber
  std::string_view text;  // as written; strings still quoted
};

class Call {
 public:
  const Op* op = nullptr;
  // One for each parameter of the signature, absent ones included, and one for
  // each element of a variadic of tensors: so a row's operand keeps its index.
  std::vector<Argument> arguments;
  // Of a `number...`, whose one argument says only whether there are any: the
  // line's operands that are its numbers. They are read where they are needed,
  // since a literal has up to a million.
  std::span<const Operand> numbers;
  std::vector<std::string_view> key_values;  // as op->keys; "" when absent
  std::vector<Type> results;
  size_t result_count = 0;  // as written: [optional] and a... vary
  // Of an op that crosses ranks, for its gradient text: types of the operand in
  // a group's order.
  std::vector<Type> pieces;
  // Of a line with ranks, for the same: the dimensions of operand 0 before its
  // last can be merged, since none but the first is cut.
  bool folds = true;

  const Type& type(size_t i) const { return arguments[i].type; }
  bool given(size_t i) const { return !arguments[i].absent; }

  // Keys. key() is the value with its default, "" when absent.
  std::string_view key(std::string_view name) const;
  bool has_key(std::string_view name) const { return !key(name).empty(); }
  bool flag(std::string_view name) const { return key(name) == "1"; }
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;

  // "x f32[128,64]", for messages.
  std::string describe(size_t i) const;
};

// Fills `call` from a parsed line. `types[i]` is the type of operand i where it
// is a name, else null; every name must have one. Checks arity, kinds, keys,
// dtypes and shapes. The error's column points into the line.
Status bind(const Line& line, std::span<const Type* const> types, Call& call);

// What only gt-emit expands, and nobody runs: grad, and globs.
Status check_emitted(const Line& line);

// The same without shapes: operands and keys are what the signature says. All
// that an op which crosses ranks has to check before its pieces are known.
Status bind_form(const Line& line, std::span<const Type* const> types,
                 Call& call);

// The same from parts that are already known to be well-formed (a row's own
// text): arguments and key values are set, result types follow.
Status infer(Call& call);

// Binds a free: it takes names and globs alone, whatever they hold.
Status bind_free(const Line& line, Call& call);

// Result dtype of arguments by PyTorch's categories: dimensioned tensors
// first, then scalars, then literals; f16 with bf16 gives f32.
Dtype promote(std::span<const Argument> arguments);
Dtype promote(Dtype a, Dtype b);

// Broadcasting of two shapes; nothing when sizes differ and neither is 1.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// An axis as given, negative counted from the end, in [0, rank); or -1.
int64_t normal_axis(int64_t axis, size_t rank);

// Arithmetic of one call, for scheduling and summaries.
double flops(const Call& call);
// Bytes of its tensor operands and results.
double bytes(const Call& call);
// Nanoseconds that so much takes one core, roughly: what comes first is wanted,
// not when.
inline double estimate(double flops, double bytes) {
  return flops / 20 + bytes / 10;
}

}  // namespace gt
