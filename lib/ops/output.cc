// Results, names and gradients: the words that compute nothing. The programs
// themselves answer these lines; no backend sees them.
#include "base/message.h"
#include "file/stored.h"
#include "ops/families.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Status types_fail(Call&) {
  return Error{"a failure has no type; nothing can be computed from it"};
}

// A result line is part of a program again, so it must be one that can be read.
Status types_print(Call& call) {
  const Argument& x = call.arguments[0];
  if (x.type.elements() > static_cast<int64_t>(kMaxOperands)) {
    return Error{call.describe(0) + " has more than " +
                 std::to_string(kMaxOperands) +
                 " values, too many for a line; save it or print a slice"};
  }
  const std::string_view as = call.key("as");
  if (!as.empty() && !is_name(as)) {
    return Error{"as=" + excerpt(as) +
                 " is not a name to print under; choose letters, digits, '_', "
                 "'.' and '/', a letter first"};
  }
  return ok_status();
}

// Files are written in two formats; any other ending is a mistake.
Status types_save(Call& call) {
  if (Status s = need_one_tensor(call, 1); !s.ok()) return s;
  const StoredPath path = split_path(unquote(call.arguments[1].text));
  if (path.in_safetensors) return ok_status();
  const std::string file = path.file.substr(path.file.rfind('/') + 1);
  const size_t dot = file.rfind('.');
  if (dot == std::string::npos || dot == 0) return ok_status();
  const std::string ending = file.substr(dot);
  return need(ending == ".npy",
              "there is no format for '" + excerpt(ending) +
                  "'; save writes FILE.npy, or the tensor NAME of "
                  "\"FILE.safetensors:NAME\"");
}

Status types_grad(Call&) {
  return Error{"run this through gt-emit, which writes the gradient's lines"};
}

constexpr Row kOutputRows[] = {
    {.signature = "print x [as=] [split=] [shape=]",
     .types = types_print,
     .flops = 0,
     .sense = "The value as one line on the last stage's standard output.",
     .details = "y = tensor TYPE VALUES..., or y = fail MESSAGE; in program "
                "order. as= is the name it is printed under. Every print gives "
                "exactly one line. Errors, which it prints: more than 2^20 "
                "values; as= is no name.",
     .source = "torch.Tensor.item, torch.Tensor.tolist, torch.Tensor.numpy",
     .example = "x = tensor f32[2] 1 0.1\n"
                "print x as=y\n"
                "=> y = tensor f32[2] 1 0.1",
     .statement = Statement::kPrint},
    {.signature = "save x path [split=] [shape=]",
     .types = types_save,
     .flops = 0,
     .sense = "The value as a .npy file, or as a tensor in a safetensors file.",
     .details = "The file is whole or not there: it is written beside the path "
                "and renamed. \"m.safetensors:NAME\" adds the tensor NAME to "
                "the file m.safetensors, or replaces it there. Saves to one "
                "such file are written together, all of them or none; Files in "
                "gt-stream(5) says where such a group ends. "
                "\"tcp://HOST:PORT/USER/PATH\" is stored at a "
                "gt-emit that lends files. Errors: a path that cannot be "
                "written; a file there that is no safetensors file.",
     .source = "NumPy's npy format, version 1; the safetensors format",
     .example = "x = tensor f32[2] 1 2\n"
                "save x \"save-example.npy\"\n"
                "y = load \"save-example.npy\"\n"
                "print y\n"
                "save x \"save-example.safetensors:blocks.0.w\"\n"
                "z = load \"save-example.safetensors:blocks.0.w\"\n"
                "print z\n"
                "=> y = tensor f32[2] 1 2\n"
                "=> z = tensor f32[2] 1 2",
     .statement = Statement::kSave},
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
                "=> y = tensor f32[1] 2",
     .statement = Statement::kFree},
    {.signature = "y... = fail message",
     .types = types_fail,
     .flops = 0,
     .sense = "A value that could not be computed, and why.",
     .details = "What depends on it fails with the same message; nothing else "
                "does.",
     .example = "x = fail \"model.gt:7: no such file\"\n"
                "print x\n"
                "=> x = fail \"model.gt:7: no such file\"",
     .statement = Statement::kFail},
    {.signature = "g... = grad loss w... retain=0 [reused=]",
     .leaf = true,
     .types = types_grad,
     .flops = 0,
     .sense = "The gradients of a scalar by the current values of names.",
     .details = "gt-emit writes the lines that compute them. The history "
                "behind the loss is consumed unless retain=1, which also "
                "records the gradient's lines, so that grad of a grad works. "
                "A name that the loss does not reach: zeros and a warning. "
                "Errors: the loss is not a scalar of floats; a name bound "
                "again, where the loss depends on what it held before, since "
                "that was probably meant. A client that takes names again "
                "for values that have nothing to do with the old ones says so "
                "by reused=0,2: of these targets, counted from 0, it is no "
                "error.",
     .source = "Griewank and Walther, Evaluating derivatives, 2nd edition, "
               "2008, chapter 3; torch.autograd.grad; torch.Tensor.backward",
     .example = "x = tensor f32[2] 1 2\n"
                "y = mul x x\n"
                "l = sum y\n"
                "g = grad l x\n"
                "print g\n"
                "=> g = tensor f32[2] 2 4",
     .statement = Statement::kGrad},
};

}  // namespace

constinit const Family kOutput{"output", "Results, names and gradients.",
                               kOutputRows};

}  // namespace gt
