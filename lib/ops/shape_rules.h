// What type functions, row texts and kernels share about axes and pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"

namespace gt {

// The index of the signature's operand `name` among the call's arguments.
size_t operand_named(const Call& call, std::string_view name);

// The one axis of key axis=, from 0, of a tensor with the given rank: that of
// operand i unless stated. Errors: a list, an axis that is not there.
Result<int64_t> one_axis(const Call& call, size_t i);
Result<int64_t> one_axis(const Call& call, size_t i, size_t rank);

// The axes of key axis=, ascending, of operand i; all of them when the key is
// absent or an empty list. Errors: an axis that is not there, or twice.
Result<std::vector<int64_t>> axis_list(const Call& call, size_t i);

// The shape without the axes, or with size 1 there.
Shape reduced_shape(const Shape& shape, const std::vector<int64_t>& axes,
                    bool keepdims);

// Order of the dimensions that transpose gives: axes=, or reversed.
Result<std::vector<int64_t>> transpose_order(const Call& call);

// What a slice takes of one axis: start, start + step, ... `count` of them.
struct Cut {
  int64_t start = 0;
  int64_t count = 0;
  int64_t step = 1;
  bool dropped = false;  // an index: the axis is not in the result
};

// Of each axis of a slice's operand 0. Where the start is a scalar's name
// (argument 1 is a tensor), the start is known at run time only and 0 here.
Result<std::vector<Cut>> slice_cuts(const Call& call);

// First index and length of each part of split, or of each operand of concat,
// along its axis.
Result<std::vector<Cut>> split_cuts(const Call& call);

// "2,-1"; an empty list is quoted, as keys have no empty words.
std::string list_text(const std::vector<int64_t>& list);
std::string list_text(const Shape& shape);
// Shortest digits of a double, "inf" and "nan" included.
std::string number_text(double value);

// Result types by the op's index rule alone, as infer() gives them to ops
// without a function of their own.
Status infer_by_terms(Call& call);

// "" when true, else the message: type functions return it as an Error.
Status need(bool condition, std::string message);
// The operand is a tensor's name, no number.
Status need_name(const Call& call, size_t i);
// The operand is a scalar, or a number; and holds an integer.
Status need_scalar(const Call& call, size_t i);
Status need_integer(const Call& call, size_t i);
// Operand i is a path that names one tensor.
Status need_one_tensor(const Call& call, size_t i);
// Argument i, if there is one, is an integer seed.
Status need_seed(const Call& call, size_t i);
// Operands i and j have one type.
Status need_same_type(const Call& call, size_t i, size_t j);

// Text of {axes} {count} {lift} of an op that reduces x over axis=: the
// axes counted from 0; how many elements fall together; 1 if the result must
// get the axes back (unsqueeze) before it broadcasts against x, else 0.
std::string reduction_word(const Call& call, std::string_view name,
                           size_t each);

// The result of reducing operand 0 over axis= with keepdims=.
Status types_reduced(Call& call, Dtype dtype);
// Operand 0 has an element for each result: there is no largest of nothing.
Status need_elements(const Call& call);

// What a row computes in when sums must not lose digits: f64 of f64, else f32.
Dtype wide_dtype(Dtype dtype);

// Type functions that several families use: result 0 is like operand 0; there
// are no results.
Status types_as_first(Call& call);
Status types_none(Call& call);
// Of gather, where operand 1 is an index into operand 0 along axis=; and of
// what scatters operand 2 by it.
Status types_gather(Call& call);
Status types_scatter_add(Call& call);

}  // namespace gt
