// A Call: one line bound to its op. Its operands and keys are checked against
// the op's signature, and the types of its results are known.
//
// An instruction goes through these forms: a Line is text taken apart
// (stream/line.h); an Op is a row of the op table (op.h); a Call is a Line and
// its Op put together, for operands of certain types; a Step is a line of an
// op's gradient or expansion, made concrete for a Call (text.h), and is itself
// bound to a Call of its own.
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
  bool absent = false;   // an optional operand that was not given
  bool literal = false;  // a number where a tensor could stand
  int32_t operand = -1;  // its index in the line's operands
  // A tensor's type. A literal has a scalar type, i64, f64 or bool, which gives
  // only its category (promote()).
  Type type;
  Number number;          // if it is a literal or kNumber
  std::string_view text;  // as written; strings still quoted
};

// The index of the argument of a load that gives its first row.
inline constexpr size_t kRowOfLoad = 2;

// A Call is reused from line to line. Its views point into the line and into
// its op.
class Call {
 public:
  const Op* op = nullptr;
  // The arguments: one for each operand of the op's signature, whether it was
  // given or not, so that an operand has the same index in every call. A
  // variadic operand of tensors ("a...") has one for each of its elements.
  std::vector<Argument> arguments;
  // The line's operands that a variadic operand of numbers ("number...") stands
  // for. Together they have one Argument, which says only whether there are
  // any. Their values are read where they are needed, since the line of a
  // tensor has up to a million.
  std::span<const Operand> numbers;
  // The keys' values, in the order of op->keys: the value as written, else the
  // default, else "".
  std::vector<std::string_view> key_values;
  std::vector<Type> results;  // set by infer()
  // The number of results of the line; optional and variadic ones vary.
  size_t result_count = 0;
  // The next two members are set only for grad, for placeholders of gradient
  // text. `pieces` holds, for an op that crosses ranks, the types of the
  // operand's pieces, in the order of a group's ranks.
  std::vector<Type> pieces;
  // True if the dimensions of operand 0 before its last can be merged into one.
  // False only for a line with ranks that cut one of them other than the first.
  bool folds = true;

  const Type& type(size_t i) const { return arguments[i].type; }
  bool given(size_t i) const { return !arguments[i].absent; }

  // Returns the value of a key as written, or its default; "" if it has
  // neither, or the op has no such key. integer(), number() and integers() read
  // it as a number or list; they give 0, 0 and an empty list for a key without
  // a value.
  std::string_view key(std::string_view name) const;
  bool has_key(std::string_view name) const { return !key(name).empty(); }
  bool flag(std::string_view name) const { return key(name) == "1"; }
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;

  // Returns argument i as messages show it: "x f32[128,64]".
  std::string describe(size_t i) const;
};

// Binds a line to its op: bind_form() and then infer(). `types[i]` is the type
// of operand i if that is a name, else null; every name must have a type. An
// error begins with the op's name (unless the op is unknown), and its column
// points into the line. The call keeps views into the line.
Status bind(const Line& line, std::span<const Type* const> types, Call& call);

// Returns an error if gt-emit should have replaced the line by others, since no
// later program can run it: a grad, or a free with a glob in it. gt-shard,
// gt-route and gt-work refuse such lines by this check; bind() does not check
// it.
Status check_emitted(const Line& line);

// Does the part of bind() that needs no shapes: finds the op, and checks the
// number and the kinds of operands and results, the keys and their values.
// Types may be null. No more can be checked of a line that crosses ranks before
// the types of the pieces on each rank are known.
Status bind_form(const Line& line, std::span<const Type* const> types,
                 Call& call);

// Does the other part of bind(): finds the types of the results of a call whose
// arguments, keys and result_count are set. Checks dtypes, shapes, part= and
// that no result is too large. Errors name operands and sizes ("x f32[4,3] and
// ..."), but neither the op nor, in general, a column.
Status infer(Call& call);

// Binds a free. Its operands may be names of any value, and globs.
Status bind_free(const Line& line, Call& call);
// Binds a fail, `y... = fail "..."`. bind() cannot, since a failure has no
// type.
Status bind_fail(const Line& line, Call& call);

// Returns the dtype that arguments are promoted to, by PyTorch's categories
// (bool < integer < float). It is that of the tensors with dimensions; scalars
// change it only if they are of a higher category, and literals likewise, where
// a float literal counts as f32. Row::dtype (op.h) says how a result's dtype
// follows from it.
Dtype promote(std::span<const Argument> arguments);
// Returns the dtype that two are promoted to: that of the higher category, or
// within one category the larger; f16 with bf16 gives f32, which holds the
// values of both.
Dtype promote(Dtype a, Dtype b);

// Returns the shape to which two shapes broadcast, or nothing if, counted from
// the last dimension, sizes differ and neither is 1.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

// Returns an axis in [0, rank), from one that may be negative and then counts
// from the end; -1 if there is no such axis.
int64_t normal_axis(int64_t axis, size_t rank);

// Returns the arithmetic operations of a call, for schedules and summaries.
double flops(const Call& call);
// Returns the bytes of a tensor operand that the call reads: all of them or, if
// the op only moves data as slice and embedding do, no more elements than it
// writes.
double bytes_read(const Call& call, size_t argument);
// Returns the bytes that the call reads and writes; 0 if its result is its
// operand under another type or name.
double bytes(const Call& call);
// Returns roughly how many nanoseconds one core takes for so much work (20
// GFLOP/s, 10 GB/s). It serves to compare calls, not to predict a time.
inline double estimate(double flops, double bytes) {
  return flops / 20 + bytes / 10;
}

}  // namespace gt
