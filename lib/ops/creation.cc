// Makes values from nothing: literals, fills, random numbers, files.
#include <cmath>
#include <optional>

#include "ops/families.h"
#include "ops/part.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Status types_tensor(Call& call) {
  const Type& type = call.type(0);
  if (!is_float(type.dtype)) {
    for (const Operand& value : call.numbers) {
      if (Status s = need_held(type.dtype, value.text); !s.ok()) return s;
    }
  }
  const auto values = static_cast<int64_t>(call.numbers.size());
  call.results.push_back(type);
  const auto part = part_of(call);
  if (!part.ok()) return part.error();
  const Type whole{type.dtype, part.value().whole};
  return need(values == whole.elements(),
              to_string(whole) + " takes " + std::to_string(whole.elements()) +
                  " values, got " + std::to_string(values));
}

// A number is cast, so it may have a fraction, or be any number for a bool; but
// it must not wrap or saturate.
Status types_full(Call& call) {
  const Type& type = call.type(0);
  call.results.push_back(type);
  if (call.arguments.size() < 2) return ok_status();
  if (Status s = need_scalar(call, 1); !s.ok()) return s;
  const Argument& value = call.arguments[1];
  if (!value.literal) return ok_status();
  return need_held_if_cast(type.dtype, value.number, value.text);
}

// The first and the last element of a range of integers must be held, so far as
// start and step are numbers.
Status check_arange(const Call& call) {
  const auto number = [&](size_t i, int64_t absent) -> std::optional<int64_t> {
    if (!call.given(i)) return absent;
    const Argument& a = call.arguments[i];
    return a.literal ? std::optional(a.number.integer) : std::nullopt;
  };
  const auto part = part_of(call);
  if (!part.ok()) return part.error();
  const int64_t n = part.value().whole[0];
  const auto start = number(1, 0), step = number(2, 1);
  const Dtype dtype = call.type(0).dtype;
  if (n == 0 || !start) return ok_status();
  if (!holds(dtype, *start)) return not_held(dtype, call.arguments[1].text);
  int64_t last = 0;
  if (!step ||
      (!__builtin_mul_overflow(n - 1, *step, &last) &&
       !__builtin_add_overflow(last, *start, &last) && holds(dtype, last))) {
    return ok_status();
  }
  return Error{"the last of " + std::to_string(n) + " elements from " +
               std::to_string(*start) + " in steps of " +
               std::to_string(*step) + " does not fit into " +
               std::string(to_string(dtype))};
}

Status types_arange(Call& call) {
  const Type& type = call.type(0);
  call.results.push_back(type);
  if (type.shape.size() != 1 || type.dtype == Dtype::kBool) {
    return Error{to_string(type) + " must have one dimension and hold numbers"};
  }
  for (size_t i = 1; i <= 2; ++i) {
    if (!call.given(i)) continue;
    const Status s =
        is_float(type.dtype) ? need_scalar(call, i) : need_integer(call, i);
    if (!s.ok()) return s;
  }
  return is_float(type.dtype) ? ok_status() : check_arange(call);
}

Status types_eye(Call& call) {
  call.results.push_back(call.type(0));
  return need(call.type(0).shape.size() == 2,
              to_string(call.type(0)) + " must have two dimensions");
}

Status types_random(Call& call) {
  call.results.push_back(call.type(0));
  if (!is_float(call.type(0).dtype)) {
    return Error{to_string(call.type(0)) + " must hold floats"};
  }
  return need_seed(call, 1);
}

Status types_randperm(Call& call) {
  const Type& type = call.type(0);
  call.results.push_back(type);
  if (type.shape.size() != 1 || !is_integer(type.dtype)) {
    return Error{to_string(type) +
                 " must have one dimension and hold integers"};
  }
  const auto part = part_of(call);
  if (!part.ok()) return part.error();
  if (type.dtype == Dtype::kU8 && part.value().whole[0] > 256) {
    return Error{to_string(type) + " cannot hold indices above 255"};
  }
  return need_seed(call, 1);
}

Status types_load(Call& call) {
  if (Status s = need_one_tensor(call, 0); !s.ok()) return s;
  if (!call.given(1)) {
    return Error{
        "type is missing; run this through gt-emit, which reads it "
        "from the file"};
  }
  call.results.push_back(call.type(1));
  return call.given(2) ? need_integer(call, 2) : ok_status();
}

constexpr Row kCreationRows[] = {
    {.signature = "y = tensor type [number...] [split=] [part=]",
     .index = "->...",
     .types = types_tensor,
     .flops = 0,
     .sense = "A tensor written out, its values in row-major order.",
     .details = "Exactly as many numbers as the type holds; none for an empty "
                "one. Values of integer types must be integers that fit, those "
                "of bool 0, 1, true or false. Under part= the numbers are "
                "those of the whole. Errors: too many or too few "
                "values; a value that the dtype does not hold.",
     .source = "torch.tensor; numpy.array; jax.numpy.asarray",
     .example = "x = tensor f32[2,2] 1 2 3 4\n"
                "print x\n"
                "=> x = tensor f32[2,2] 1 2 3 4"},
    {.signature = "y = full type value [split=] [part=]",
     .index = "->...",
     .gradient = "dvalue = sum dy",
     .types = types_full,
     .flops = 0,
     .sense = "A tensor with one value throughout.",
     .details = "value is a number or the name of a scalar; it is cast to the "
                "type's dtype. Errors: value is not a scalar; a number beyond "
                "what an integer dtype holds.",
     .source = "torch.full; torch.full_like with the type written out",
     .example = "x = full i32[3] 7\n"
                "print x\n"
                "=> x = tensor i32[3] 7 7 7"},
    {.signature = "y = zeros type [split=] [part=]",
     .index = "->...",
     .expansion = "y = full type 0 part={part}",
     .types = types_full,
     .flops = 0,
     .sense = "A tensor of zeros.",
     .details = "Any type; of bool, false.",
     .source = "torch.zeros; torch.zeros_like with the type written out; "
               "torch.empty; torch.empty_like with the type written out",
     .example = "x = zeros f32[3]\n"
                "print x\n"
                "=> x = tensor f32[3] 0 0 0",
     .zero = true},
    {.signature = "y = ones type [split=] [part=]",
     .index = "->...",
     .expansion = "y = full type 1 part={part}",
     .types = types_full,
     .flops = 0,
     .sense = "A tensor of ones.",
     .details = "Any type; of bool, true.",
     .source = "torch.ones; torch.ones_like with the type written out",
     .example = "x = ones bool[2]\n"
                "print x\n"
                "=> x = tensor bool[2] 1 1"},
    {.signature = "y = arange type [start] [step] [split=] [part=]",
     .index = ",->k",
     .gradient = R"(
       dstart = sum dy
       i = arange {y.type} part={part}
       m = mul dy i
       dstep = sum m)",
     .types = types_arange,
     .sense = "start, start + step, start + 2 step and so on.",
     .details = "As many as the one-dimensional type holds; start is 0 and "
                "step 1 unless given, as numbers or names of scalars. Element "
                "i of a float type is start + i * step, computed in f64 and "
                "rounded once. Errors: other ranks; bool; a start or step "
                "that is not an integer for an integer type; numbers that "
                "lead beyond what the type holds.",
     .source = "torch.arange, with a length in place of an end; with the span "
               "over n - 1 as step it is torch.linspace",
     .example = "x = arange i64[4] 1 2\n"
                "print x\n"
                "=> x = tensor i64[4] 1 3 5 7"},
    {.signature = "y = eye type [split=] [part=]",
     .index = "->mn",
     .types = types_eye,
     .flops = 0,
     .sense = "Ones on the diagonal, zeros elsewhere.",
     .details = "Any type of two dimensions, square or not. Errors: other "
                "ranks.",
     .source = "torch.eye; where one of bool is, a vector, else 0, it is "
               "torch.diag; where it is, a matrix, else 0, summed, torch.trace",
     .example = "x = eye f32[2,3]\n"
                "print x\n"
                "=> x = tensor f32[2,3] 1 0 0 0 1 0"},
    {.signature = "y = randn type [seed] scale=1 [split=] [part=]",
     .index = "->...",
     .leaf = true,
     .types = types_random,
     .flops = 20,
     .sense = "Normal random numbers, of mean 0 and deviation scale.",
     .details = "A function of seed and global element index alone, so pieces "
                "of a split tensor equal the whole. seed is an integer or the "
                "name of an integer scalar; gt-emit supplies one that is "
                "absent. Errors: the type does not hold floats; the seed is "
                "not an integer.",
     .source = "Philox4x32-10 (Salmon et al., Parallel random numbers: as "
               "easy as 1, 2, 3, SC 2011) and the Box-Muller transform; "
               "torch.randn; with a deviation and a mean torch.normal; "
               "jax.random.normal",
     .example = "x = randn f32[1000] 7\n"
                "m = mean x\n"
                "a = abs m\n"
                "b = lt a 0.1\n"
                "print b\n"
                "=> b = tensor bool[] 1"},
    {.signature = "y = rand type [seed] [split=] [part=]",
     .index = "->...",
     .leaf = true,
     .types = types_random,
     .flops = 10,
     .sense = "Uniform random numbers, at least 0 and less than 1.",
     .details = "A function of seed and global element index alone, as randn. "
                "Errors: the type does not hold floats; the seed is not an "
                "integer.",
     .source = "Philox4x32-10 (Salmon et al., SC 2011); torch.rand; "
               "numpy.random.uniform; times n and cast to i64 it is "
               "torch.randint",
     .example = "x = rand f32[1000] 7\n"
                "m = max x\n"
                "b = lt m 1\n"
                "print b\n"
                "=> b = tensor bool[] 1"},
    {.signature = "y = randperm type [seed] [split=] [part=]",
     .index = "->k!",
     .leaf = true,
     .types = types_randperm,
     .flops = 10,
     .sense = "The numbers 0 to n - 1 in random order.",
     .details = "n is the size of the one-dimensional integer type. The order "
                "is that of the indices sorted by their Philox words under the "
                "seed, equal ones by index. Errors: other ranks, other dtypes; "
                "the seed is not an integer.",
     .source = "torch.randperm; Philox4x32-10; numpy.random.permutation; "
               "take of a tensor by it is numpy.random.shuffle, "
               "numpy.random.choice",
     .example = "x = randperm i64[5] 7\n"
                "y = sum x\n"
                "print y\n"
                "=> y = tensor i64[] 10"},
    {.signature = "y = load path [type] [row] [split=] [part=]",
     .index = "->...",
     .leaf = true,
     .types = types_load,
     .flops = 0,
     .sense = "A tensor read from a .npy or a safetensors file.",
     .details = "The path is a string: that of a .npy file, or "
                "\"m.safetensors:NAME\", the tensor NAME of the file "
                "m.safetensors. gt-emit adds a type that is absent; one "
                "that is given must have the file's dtype and trailing sizes. "
                "row, a number or the name of an integer scalar, is the first "
                "row taken along axis 0, 0 if absent; rows beyond the file's "
                "end are a failure. Only what is taken is read. Under "
                "part= the type is that of the block, taken from the WHOLE "
                "that begins at the row. A load sees the save of its path "
                "before it. \"tcp://HOST:PORT/USER/PATH\" is a file that a "
                "gt-emit lends, of which the whole is fetched, and whose type "
                "must be given. Errors: no such file or tensor, another type, "
                "a dtype that gt does not have.",
     .source = "NumPy's npy format, versions 1 to 3; the safetensors format; "
               "of an array that was saved, torch.from_numpy",
     .example = "x = arange f32[3]\n"
                "save x \"load-example.npy\"\n"
                "y = load \"load-example.npy\" f32[2] 1\n"
                "print y\n"
                "=> y = tensor f32[2] 1 2",
     .statement = Statement::kLoad,
     .fails = "always"},
};

}  // namespace

constinit const Family kCreation{
    "creation", "Tensors from numbers, files and random seeds.", kCreationRows};

}  // namespace gt
