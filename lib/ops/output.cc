// Results, names and gradients: what is no arithmetic. The programs themselves
// answer these; no backend sees them.
#include "ops/families.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Status types_fail(Call&) {
  return Error{"a failure has no type; nothing can be computed from it"};
}

Status types_grad(Call&) {
  return Error{"run this through gt-emit, which writes the gradient's lines"};
}

constexpr Row kRows[] = {
    {.signature = "print x [as=]",
     .types = types_none,
     .flops = 0,
     .sense = "The value as one line on the last stage's standard output.",
     .details = "y = tensor TYPE VALUES..., or y = fail MESSAGE; in program "
                "order. as= is the name it is printed under. Every print gives "
                "exactly one line.",
     .example = "x = tensor f32[2] 1 0.1\n"
                "print x as=y\n"
                "=> y = tensor f32[2] 1 0.1"},
    {.signature = "save x path",
     .types = types_none,
     .flops = 0,
     .sense = "The value as a .npy file.",
     .details = "The file is whole or not there: it is written beside the path "
                "and renamed. Errors: a path that cannot be written.",
     .source = "NumPy's npy format, version 1",
     .example = "x = tensor f32[2] 1 2\n"
                "save x \"save-example.npy\"\n"
                "y = load \"save-example.npy\"\n"
                "print y\n"
                "=> y = tensor f32[2] 1 2"},
    {.signature = "free x...",
     .types = types_none,
     .flops = 0,
     .sense = "Names that are no longer needed.",
     .details = "Their memory returns once what was asked of it is done. "
                "gt-emit expands free act/* to the names that match.",
     .example = "x = tensor f32[1] 1\n"
                "y = add x 1\n"
                "free x\n"
                "print y\n"
                "=> y = tensor f32[1] 2"},
    {.signature = "y... = fail message",
     .types = types_fail,
     .flops = 0,
     .sense = "A value that could not be computed, and why.",
     .details = "What depends on it fails with the same message; nothing else "
                "does.",
     .example = "x = fail \"model.gt:7: no such file\"\n"
                "print x\n"
                "=> x = fail \"model.gt:7: no such file\""},
    {.signature = "g... = grad loss w... retain=0",
     .types = types_grad,
     .flops = 0,
     .sense = "The gradients of a scalar by the current values of names.",
     .details = "gt-emit writes the lines that compute them. The history "
                "behind the loss is consumed unless retain=1, which also "
                "records the gradient's lines, so that grad of a grad works. "
                "A name that the loss does not reach: zeros and a warning. "
                "Errors: the loss is not a scalar of floats; a name bound "
                "again since the loss.",
     .source = "Griewank and Walther, Evaluating derivatives, 2nd edition, "
               "2008, chapter 3; torch.autograd.grad",
     .example = "x = tensor f32[2] 1 2\n"
                "y = mul x x\n"
                "l = sum y\n"
                "g = grad l x\n"
                "print g\n"
                "=> g = tensor f32[2] 2 4"},
};

}  // namespace

constinit const Family kOutput{"output", "Results, names and gradients.",
                               kRows};

}  // namespace gt
