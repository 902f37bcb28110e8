// A row's gradient and expansion, made concrete for one call.
//
// A line of row text is an instruction whose names are the signature's, a "d"
// in front of them for gradients, or temporaries. Before it may stand guards in
// brackets, all of which must hold:
//   [b] [!b]         the optional operand was given, or not
//   [P=V] [P!=V]     placeholder P has, or has not, the text V
//   [dy] [!dy]       in a gradient: the loss depends on result y, or not
//   [each]           once for each element of the variadic operand or result
// {P} in an operand or a key's value is replaced:
//   {axis}           a key's value, its default included
//   {x.type} {x.shape} {x.rank} {x.dtype} {x.elements}   of operand or result
//   {dx.type}        in a gradient: the type of x, which dx has, too
//   {x.-2}           the size of x's last dimension but one, and so on
// or what the row's own placeholder function knows; as {x.name} these are sizes
// of a tensor with x's dimensions, and those that ranks may cut are x's.
// {x.-2} is the size of a tensor that has that dimension of x alone. "a..."
// as an operand stands for all elements of a variadic, or of a temporary that
// an [each] line set. A name that is an operand and a result is the operand;
// "=w" is the result. A key whose value is the default, or empty, is left out.
// "keys..." stands for the call's own keys, as far as the line's op takes them.
//
// A temporary is set once; "t = copy u" says that t is u and makes no step. Nor
// need "dx = copy t" in a gradient become a line: dx is t. A gradient line's
// result is summed to its operand's shape (the adjoint of broadcasting) and
// cast to its dtype (the adjoint of promotion) by whoever uses it, so rows need
// not say so. A result's gradient that nothing reached reads as zeros. An
// operand of floats without a line is refused, unless the row says that it is
// non_differentiable.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/call.h"

namespace gt {

struct StepOperand {
  bool is_ref = true;
  Ref ref{};
  std::string text;  // a literal, type, dtype, range or string
  // Where the text is that of an argument of the call, that argument.
  int32_t argument = -1;
};

// Whose sizes a step states: those of all dimensions of an operand or result,
// as {x.shape} does, or of one dimension, counted from the end, as {x.-2}. Of
// an operand's gradient, as {dx.type}, it has the letters on each axis, too.
struct SizedAs {
  Ref ref;
  int dim = 0;  // 0: all; -1: the last
};

struct Step {
  const Op* op = nullptr;
  std::vector<Ref> results;
  std::vector<StepOperand> operands;
  std::vector<std::pair<std::string, std::string>> keys;
  std::optional<SizedAs> sized = std::nullopt;
};

// In order of execution. An operand ref whose argument is a number literal is
// written as that number, and an absent optional one is left out. Of a row that
// computes in f32, where an operand is f16 or bf16, the expansion is casts, the
// op itself in f32, and casts back.
// `reached` says of each result whether the loss depends on it; absent: on all.
std::vector<Step> gradient_steps(const Call& call,
                                 const std::vector<bool>* reached = nullptr);
std::vector<Step> expansion_steps(const Call& call);

// The step's parts as those of a line, as views into it. Its names have no
// text: a step refers to values by number.
Line line_of(const Step& step);

// Fills `call` from a step, as bind() does from a line: `types[i]` is the type
// of operand i where it is a ref, else null. The call has views of the step's
// text. Not of a step with a `number...`, whose numbers belong to a line. An
// error has no column, since nobody wrote the step.
Status bind_step(const Step& step, std::span<const Type* const> types,
                 Call& call);
// The same without shapes, as bind_form() is bind() without.
Status bind_step_form(const Step& step, std::span<const Type* const> types,
                      Call& call);

// Whether a line of the row may belong to the call, by the guards that need no
// types: those on keys whose value is a word, as [op=sum].
bool may_apply(const TextLine& line, const Call& call);

}  // namespace gt
