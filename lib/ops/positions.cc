// Other parts of a transformer: rotary positions, dropout.
#include <cmath>

#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/part.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Status types_dropout(Call& call) {
  call.results.push_back(call.type(0));
  const Argument& p = call.arguments[1];
  if (p.literal && !(p.number.real >= 0 && p.number.real <= 1)) {
    return Error{"p must be from 0 to 1, got " + std::string(p.text)};
  }
  if (Status s = need_scalar(call, 1); !s.ok()) return s;
  return need_seed(call, 2);
}

// The placeholders of dropout. {mask}: x's shape in f32, so that which elements
// are kept does not depend on the dtype; {named}: "1" if p is the name of a
// scalar, which is checked when the line runs.
std::string dropout_word(const Call& call, std::string_view name, size_t) {
  if (name == "named") return call.arguments[1].literal ? "0" : "1";
  if (name != "mask") return "";
  return to_string(Type{Dtype::kF32, call.type(0).shape});
}

Status types_rope(Call& call) {
  const Shape& shape = call.type(0).shape;
  call.results.push_back(call.type(0));
  const int64_t heads = call.integer("heads");
  if (shape.size() < 2) {
    return Error{call.describe(0) + " must have at least 2 dimensions"};
  }
  if (heads < 1 || shape.back() % heads != 0 || shape.back() / heads % 2 != 0) {
    return Error{"heads=" + std::string(call.key("heads")) +
                 " must divide the last dimension of " + call.describe(0) +
                 " into even parts"};
  }
  const double base = call.number("base");
  if (!(base > 0) || std::isinf(base)) {
    return Error{"base=" + std::string(call.key("base")) +
                 " must be above 0 and finite; 10000 is usual"};
  }
  return call.given(1) ? need_integer(call, 1) : ok_status();
}

// The placeholders of rope. {row}: the position of the block's first row;
// {rows} {pairs}: their numbers; {wide}: the dtype of the work; {step}: that of
// the exponent of base; {cut}: x's shape as [lead,rows,heads,2,pairs] or, if
// interleaved, [lead,rows,heads,pairs,2], with the two along {axis}; {angles}:
// the shape of the angles there; {back}: "1" for rope_grad.
std::string rope_word(const Call& call, std::string_view name, size_t) {
  const Shape& shape = call.type(0).shape;
  const int64_t rows = shape[shape.size() - 2];
  const int64_t heads = call.integer("heads");
  const int64_t pairs = shape.back() / heads / 2;
  const bool neighbours = call.flag("interleaved");
  if (name == "back") return call.op->name == "rope" ? "0" : "1";
  if (name == "axis") return neighbours ? "-1" : "-2";
  if (name == "rows") return std::to_string(rows);
  if (name == "pairs") return std::to_string(pairs);
  if (name == "wide") {
    return std::string(to_string(wide_dtype(call.type(0).dtype)));
  }
  if (name == "step") return number_text(-1.0 / static_cast<double>(pairs));
  if (name == "row") {
    const Part part = part_of(call).value();
    return std::to_string(part.start[shape.size() - 2]);
  }
  if (name == "angles") {
    return neighbours ? list_text(Shape{rows, 1, pairs, 1})
                      : list_text(Shape{rows, 1, 1, pairs});
  }
  if (name != "cut") return "";
  int64_t lead = 1;
  for (size_t i = 0; i + 2 < shape.size(); ++i) lead *= shape[i];
  return neighbours ? list_text(Shape{lead, rows, heads, pairs, 2})
                    : list_text(Shape{lead, rows, heads, 2, pairs});
}

// The expansion of rope, and of rope_grad, which turns back.
constexpr char kTurn[] = R"(
  [start part] o = add start {row}
  [start !part] o = copy start
  [!start] o = copy {row}
  i = arange f64[{rows}] o
  e = arange f64[{pairs}] 0 {step}
  f = pow {base} e
  u = unsqueeze i axis=-1
  a = mul u f
  c0 = cos a
  c1 = cast c0 {wide}
  c = reshape c1 shape={angles}
  s0 = sin a
  s1 = cast s0 {wide}
  s = reshape s1 shape={angles}
  w = reshape x shape={cut}
  l = slice w 0 axis={axis} size=1
  h = slice w 1 axis={axis} size=1
  lc = mul l c
  hs = mul h s
  ls = mul l s
  hc = mul h c
  [back=0] m = sub lc hs
  [back=0] n = add hc ls
  [back=1] m = add lc hs
  [back=1] n = sub hc ls
  j = concat m n axis={axis}
  y = reshape j shape={x.shape})";

// Whether an element is kept depends on its place in the whole of x.
std::vector<Label> labels_dropout(const Call& call) {
  std::vector<Label> labels = labels_by_terms(call);
  for (Label& label : labels) label.needs_split = true;
  return labels;
}

// A row is turned by its position; all heads are turned alike.
std::vector<Label> labels_rope(const Call& call) {
  std::vector<Label> labels = labels_by_terms(call);
  const Shape& shape = call.type(0).shape;
  const auto last = static_cast<int32_t>(shape.size()) - 1;
  for (Label& label : labels) {
    label.needs_split = label.arguments[0].dim == last - 1;
  }
  Label heads(call, call.integer("heads"));
  heads.is_never_empty = true;
  heads.needs_split = true;
  heads.arguments[0] = {last, shape.back() / heads.size};
  heads.results[0] = heads.arguments[0];
  labels.push_back(std::move(heads));
  return labels;
}

constexpr Row kPositionRows[] = {
    {.signature = "y = dropout x p [seed] [split=] [shape=] [part=]",
     .index = "...,,->...",
     .linear = "0",
     .dtype = "first",
     .accepts = "float,float,int",
     .gradient = "dx = dropout dy p seed keys...",
     .expansion = R"(
       r = rand {mask} seed part={part}
       f = ge r p
       c = cast p f64
       [named=1] d = probability c
       [named=0] d = copy c
       q = sub 1 d
       k = cast q {x.dtype}
       t = div x k
       y = where f t 0)",
     .in_f32 = true,
     .types = types_dropout,
     .labels = labels_dropout,
     .placeholder = dropout_word,
     .flops = 12,
     .sense = "Elements of x at random, each 0 with probability p; those that "
              "are kept are divided by 1 - p.",
     .details =
         "p is a number from 0 to 1 or the name of a scalar. Element i "
         "is kept where rand of seed, of dtype f32, is at least p: a "
         "function of seed and global index alone. gt-emit supplies a "
         "seed that is absent. Errors: p below 0 or above 1, which for a "
         "name is found when the line runs; x does not hold floats; "
         "the seed is not an integer.",
     .source = "torch.nn.functional.dropout; Philox4x32-10",
     .example = "x = ones f32[1000]\n"
                "y = dropout x 0.5 7\n"
                "m = mean y\n"
                "d = sub m 1\n"
                "a = abs d\n"
                "b = lt a 0.1\n"
                "print b\n"
                "=> b = tensor bool[] 1"},
    {.signature = "y = probability p",
     .index = "->",
     .accepts = "float",
     .leaf = true,
     .types = types_as_first,
     .flops = 0,
     .sense = "p itself, which must be from 0 to 1.",
     .internal = true,
     .lineage = Lineage::kSame},
    {.signature = "y = rope x [start] base=10000 heads=1 interleaved=0 "
                  "[split=] [shape=] [part=]",
     .index = "...sc!,->...sc",
     .linear = "0",
     .dtype = "first",
     .accepts = "float,int",
     .gradient = "dx = rope_grad dy start keys...",
     .expansion = kTurn,
     .in_f32 = true,
     .types = types_rope,
     .labels = labels_rope,
     .placeholder = rope_word,
     .flops = 4,
     .sense = "Rotary positions: pairs of the last dimension turned by angles "
              "that grow with the row.",
     .details = "x [...,s,h*d], heads=h. Pair i of each head of row r is "
                "turned by (start + r) base^(-2i/d); pair i is elements i and "
                "i + d/2, or with interleaved=1 elements 2i and 2i + 1. start "
                "is an integer or the name of an integer scalar, 0 if absent; "
                "under part= rows count from where the block begins. Angles "
                "are computed in f64. Errors: fewer than 2 dimensions; heads "
                "that do not divide them into even parts; integers; a base "
                "that is not above 0.",
     .source = "Su et al., RoFormer, 2021; pairs as in Llama of the "
               "transformers library",
     .example = "x = tensor f32[2,2] 1 0 1 0\n"
                "y = rope x\n"
                "print y\n"
                "=> y = tensor f32[2,2] 1 0 0.5403023 0.84147096"},
    {.signature = "y = rope_grad x [start] base=10000 heads=1 interleaved=0 "
                  "[split=] [shape=] [part=]",
     .index = "...sc!,->...sc",
     .linear = "0",
     .dtype = "first",
     .accepts = "float,int",
     .gradient = "dx = rope dy start keys...",
     .expansion = kTurn,
     .in_f32 = true,
     .types = types_rope,
     .labels = labels_rope,
     .placeholder = rope_word,
     .flops = 4,
     .sense = "rope backwards, which is its gradient: the same turns the other "
              "way.",
     .internal = true},
};

}  // namespace

constinit const Family kPositions{"positions", "Rotary positions, dropout.",
                                  kPositionRows};

}  // namespace gt
