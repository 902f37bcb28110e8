// Makes the gradient and the expansion of a call: the text of its op's row,
// made concrete as a list of Steps.
//
// A line of row text is an instruction. Its names are those of the signature,
// these with a "d" in front for their gradients, or temporaries. Guards in
// brackets may stand before it, all of which must hold:
//   [b] [!b]         the optional operand was given, or not
//   [P=V] [P!=V]     placeholder P has, or has not, the text V
//   [dy] [!dy]       in a gradient: the loss depends on result y, or not
//   [each]           once for each element of the variadic operand or result
// {P} in an operand or a key's value is replaced:
//   {axis}           a key's value, its default included
//   {x.type} {x.shape} {x.rank} {x.dtype} {x.elements}   of operand or result
//   {dx.type}        in a gradient: the type of x, which dx has, too
//   {x.-2}           the size of x's last dimension but one, and so on
// or what the row's own placeholder function knows. A placeholder with a
// tensor's name also says how ranks may cut what the line makes. If the row's
// own function knows {x.name}, its text has the sizes of a tensor that is cut
// as x is; {x.-2} is the size of a tensor with that one dimension of x, and cut
// as that dimension is. "a..." as an operand stands for all elements of a
// variadic, or of a temporary that an [each] line set. A name that is both an
// operand and a result means the operand; "=w" means the result. A key whose
// value is the default, or empty, is left out. "keys..." stands for those of
// the call's own keys that the line's op takes.
//
// A temporary is set once. "t = copy u" only makes t another name of u, and no
// step. In a gradient "dx = copy t" need not become a line either: dx is t. The
// user of a gradient's steps sums each operand's gradient to the operand's
// shape (the adjoint of broadcasting) and casts it to its dtype (the adjoint of
// promotion), so rows need not say so. The gradient of a result that the loss
// does not depend on reads as zeros. grad refuses an operand of floats that has
// no gradient line, unless the row lists it in non_differentiable.
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
  std::string text;  // if not a ref: a literal, type, dtype, range or string
  // The index of the call's argument that the text was taken from; -1: none.
  int32_t argument = -1;
};

// The tensor whose sizes a step states in a type or key. If ranks cut it, the
// line that is written for the step states split= and the sizes of the whole.
// The step has the sizes of all of the tensor's dimensions (by {x.shape}), or
// of one dimension, counted from the end (by {x.-2}). If the tensor is an
// operand's gradient (by {dx.type}), the step's result also has that gradient's
// type on each axis of the mesh (R, I, V or P).
struct SizedAs {
  Ref ref;
  int dim = 0;  // 0: all; -1: the last
};

// One line of a call's gradient or expansion: a TextLine (op.h) whose guards
// hold, with its placeholders replaced and its names resolved to Refs.
struct Step {
  const Op* op = nullptr;
  std::vector<Ref> results;
  std::vector<StepOperand> operands;
  std::vector<std::pair<std::string, std::string>> keys;
  std::optional<SizedAs> sized = std::nullopt;
};

// Return the steps of the call's gradient, or of its expansion, in order of
// execution. An operand that is a number in the call is that number in the
// steps; one that was not given is left out. If the row computes in f32
// (Row::in_f32) and an operand is f16 or bf16, the expansion is: casts to f32,
// the op itself, casts back. `reached` says for each result whether the loss
// depends on it; if it is null, the loss depends on all.
std::vector<Step> gradient_steps(const Call& call,
                                 const std::vector<bool>* reached = nullptr);
std::vector<Step> expansion_steps(const Call& call);

// Returns the step as a Line that keeps views into it. Its names have no text,
// since a step refers to values by Refs.
Line line_of(const Step& step);

// Binds a step as bind() binds a line: `types[i]` is the type of operand i if
// that is a ref, else null. The call keeps views into the step. The step's op
// must not have a variadic operand of numbers. An error has no column, since no
// user wrote the step.
Status bind_step(const Step& step, std::span<const Type* const> types,
                 Call& call);
// Does the part of bind_step() that needs no shapes, as bind_form() does for
// bind().
Status bind_step_form(const Step& step, std::span<const Type* const> types,
                      Call& call);

// True if the guards of a row's line may hold for the call, as far as can be
// told before types are known. False only if a guard on a key whose values are
// words, such as [op=sum], does not hold.
bool may_apply(const TextLine& line, const Call& call);

}  // namespace gt
