// Helpers that type functions (Row::types), placeholders (Row::placeholder) and
// kernels share: axes, slices, common checks and result types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"

namespace gt {

// Returns the index among the call's arguments of the operand that the
// signature calls `name`, which must exist.
size_t operand_named(const Call& call, std::string_view name);

// Return the axis of key axis=, counted from 0, of a tensor with `rank`
// dimensions (without `rank`, as many as operand i has). Errors, which name
// operand i: a list, an axis that is not there.
Result<int64_t> one_axis(const Call& call, size_t i);
Result<int64_t> one_axis(const Call& call, size_t i, size_t rank);

// Returns the axes of key axis=, ascending, of operand i; all of them when the
// key is absent or an empty list. Errors: an axis that is not there, or twice.
Result<std::vector<int64_t>> axis_list(const Call& call, size_t i);

// Returns the shape without the axes; if `keepdims`, with size 1 there.
Shape reduced_shape(const Shape& shape, const std::vector<int64_t>& axes,
                    bool keepdims);

// Returns the order in which transpose puts the dimensions: axes=, or reversed.
// Error: axes= does not name each dimension once.
Result<std::vector<int64_t>> transpose_order(const Call& call);

// The indices of one axis that a slice takes: start, start + step, ..., `count`
// of them.
struct Cut {
  int64_t start = 0;
  int64_t count = 0;
  int64_t step = 1;
  bool dropped = false;  // an index took one: the result lacks the axis
};

// Returns what a slice takes of each axis of its operand. If the start is the
// name of a scalar (argument 1 is a tensor), it is known only when the line
// runs, and is 0 here.
Result<std::vector<Cut>> slice_cuts(const Call& call);

// Returns the first index and the length of each part of a split along its
// axis. Errors: the parts do not make up the axis.
Result<std::vector<Cut>> split_cuts(const Call& call);

// Returns the list as a key's value, "2,-1"; an empty one as "\"\"", since a
// value cannot be empty.
std::string list_text(const std::vector<int64_t>& list);
std::string list_text(const Shape& shape);
// Returns the shortest digits of the number, or "inf", "nan".
std::string number_text(double value);

// Appends the result types that follow from the op's index terms and Row::dtype
// alone, as infer() does for rows without a type function. Errors: sizes that
// do not fit.
Status infer_by_terms(Call& call);

// Checks for type functions, which return their errors. need() returns an error
// with the message unless the condition holds.
Status need(bool condition, std::string message);
// Argument i must be a name and not a number.
Status need_name(const Call& call, size_t i);
// Returns a hint for a word that is to be an integer and is one, written as
// 1e3; "" for others.
std::string integer_hint(std::string_view text);
// Returns the integer that a float is; nothing if it is none of 64 bits.
std::optional<int64_t> as_integer(double value);
// Says that an integer dtype or bool does not hold the number written so.
Error not_held(Dtype dtype, std::string_view text);
// Returns an error if an integer dtype does not hold what the number is once
// its fraction is dropped. Other dtypes take all numbers.
Status need_held_if_cast(Dtype dtype, const Number& number,
                         std::string_view text);
// True for a number written as an integer that has more than 64 bits: it is
// read as a float, but is no float that was meant.
bool is_beyond_64_bits(const Argument& a);
// The number written so must be a value of that integer dtype or of bool.
Status need_held(Dtype dtype, std::string_view text);
// Numbers beside tensors of integers must be values of the dtype that they are
// computed in, that of result 0, so that none wraps.
Status need_held_numbers(const Call& call);
// Argument i must be a scalar or a number; for need_integer(), an integer one.
Status need_scalar(const Call& call, size_t i);
Status need_integer(const Call& call, size_t i);
// Argument i, a path, must name one tensor and not a file of several.
Status need_one_tensor(const Call& call, size_t i);
// Argument i must be given, and be an integer: a seed, which gt-emit adds where
// it was left out.
Status need_seed(const Call& call, size_t i);
// Arguments i and j must have one type.
Status need_same_type(const Call& call, size_t i, size_t j);
// A result of `rank` dimensions must be possible.
Status need_rank(size_t rank);

// The placeholders of an op that reduces x over axis=. {axes}: the axes counted
// from 0; {count}: how many elements become one; {lift}: "1" if the result must
// get the axes back (unsqueeze) before it broadcasts against x, else "0".
std::string reduction_word(const Call& call, std::string_view name,
                           size_t each);

// Append the type of operand 0 reduced over axis= with keepdims=, in a dtype or
// else in the operand's own. Error: there is no such axis.
Status types_reduced(Call& call, Dtype dtype);
Status types_reduced(Call& call);
// For the gradients of reductions: operand 0 must have the type to which x,
// operand 1, is reduced; the result has x's shape.
Status types_reduced_grad(Call& call);
// Returns an error if an axis that is reduced has size 0: no elements have no
// largest one.
Status need_elements(const Call& call, size_t i = 0);
// Returns an error if the key divisor, where there is one, is negative.
Status need_divisor(const Call& call);

// Returns the dtype that sums are taken in so that they lose no digits: f64 for
// f64, f32 for all others.
Dtype wide_dtype(Dtype dtype);

// The placeholder of rows whose gradient computes f16 and bf16 in f32: {half}
// is "1" if the call's result is one of them, else "0".
std::string half_word(const Call& call, std::string_view name, size_t each);

// Applies out=, for an op that computes f16 and bf16 in f32: out=f32 leaves
// result 0 in f32. Error: out= is neither that nor the result's own dtype.
Status widen_result(Call& call);

// Type functions that several families use. types_as_first() gives result 0 the
// type of operand 0.
Status types_as_first(Call& call);
// Gives no results.
Status types_none(Call& call);
// types_gather() is for gather, whose operand 1 holds indices into operand 0
// along axis=; types_scatter_add() is for ops that scatter operand 2 into
// operand 0 by such indices.
Status types_gather(Call& call);
Status types_scatter_add(Call& call);

}  // namespace gt
