// Parts of tensors, and tensors made of parts: slices, joins, lookups.
#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Status types_slice(Call& call) {
  const auto cuts = slice_cuts(call);
  if (!cuts.ok()) return cuts.error();
  Shape shape;
  for (const Cut& cut : cuts.value()) {
    if (!cut.dropped) shape.push_back(cut.count);
  }
  call.results.push_back({call.type(0).dtype, shape});
  return ok_status();
}

// The placeholders of slice's gradient. A pad puts a plain slice back; for a
// strided one, gaps behind each of its elements are made first. The gaps take
// one more dimension for each strided dimension.
//
// {form}: "scattered" if these are too many dimensions, "strided", "named" (a
// scalar's name is the start) or "plain"; {dropped}: "1" if an index dropped a
// dimension; {x.kept}: the result's shape with that dimension; {after}: where
// the dimensions of the gaps are; {gaps}: width= of the pad that makes the
// gaps; {x.merged}: the shape with them; {width}: width= of the pad that puts
// the slice back; {along}: a shape that is size= along the axis and 1
// elsewhere; {extent}: the size of the axis.
std::string slice_word(const Call& call, std::string_view name, size_t) {
  const std::vector<Cut> cuts = slice_cuts(call).value();
  bool dropped = false;
  std::vector<int64_t> kept, merged, width, gaps, after, along;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const Cut& cut = cuts[i];
    dropped |= cut.dropped;
    kept.push_back(cut.count);
    merged.push_back(cut.count * cut.step);
    width.push_back(cut.start);
    width.push_back(call.type(0).shape[i] - cut.start - merged.back());
    gaps.insert(gaps.end(), {0, 0});
    if (cut.step == 1) continue;
    after.push_back(static_cast<int64_t>(i + after.size() + 1));
    gaps.insert(gaps.end(), {0, cut.step - 1});
  }
  if (name == "form") {
    if (call.arguments[1].role == Role::kTensor) return "named";
    if (cuts.size() + after.size() > Shape::kMaxRank) return "scattered";
    return after.empty() ? "plain" : "strided";
  }
  if (name == "dropped") return dropped ? "1" : "0";
  if (name == "x.kept") return list_text(kept);
  if (name == "after") return list_text(after);
  if (name == "gaps") return list_text(gaps);
  if (name == "x.merged") return list_text(merged);
  if (name == "width") return list_text(width);
  if (name != "along" && name != "extent") return "";
  const auto axis = static_cast<size_t>(one_axis(call, 0).value());
  // At least 1: an axis of size 0 has no start, and the expansion must not
  // divide by 0.
  if (name == "extent") {
    return std::to_string(std::max<int64_t>(1, call.type(0).shape[axis]));
  }
  along.assign(cuts.size(), 1);
  along[axis] = cuts[axis].count;
  return list_text(along);
}

Status types_concat(Call& call) {
  const auto axis = one_axis(call, 0);
  if (!axis.ok()) return axis.error();
  const auto k = static_cast<size_t>(axis.value());
  Shape shape = call.type(0).shape;
  for (size_t i = 1; i < call.arguments.size(); ++i) {
    Shape other = call.type(i).shape;
    if (other.size() == shape.size()) {
      if (__builtin_add_overflow(shape[k], other[k], &shape[k])) {
        return Error{"the result is too large"};
      }
      other[k] = shape[k];
    }
    if (!(other == shape)) {
      return Error{call.describe(0) + " and " + call.describe(i) +
                   " differ in more than axis " + std::to_string(k)};
    }
  }
  call.results.push_back({promote(call.arguments), shape});
  return ok_status();
}

// The index must have the shape of g.
Status types_gather_grad(Call& call) {
  const auto axis = one_axis(call, 0);
  if (!axis.ok()) return axis.error();
  Shape shape = call.type(0).shape;
  if (!(shape == call.type(1).shape) || call.integer("rows") < 0) {
    return Error{call.describe(0) + " and " + call.describe(1) +
                 " must have one shape, and rows= not be negative"};
  }
  if (!shape.empty()) {
    shape[static_cast<size_t>(axis.value())] = call.integer("rows");
  }
  call.results.push_back({call.type(0).dtype, shape});
  return ok_status();
}

// The placeholders of gather. {whole}: "1" if the index has all of x's sizes
// beside the axis; {rows}: x's size along it; that of the whole, if shape=
// gives it.
std::string gather_word(const Call& call, std::string_view name, size_t) {
  if (name != "whole" && name != "rows") return "";
  Shape x = call.type(0).shape;
  if (x.empty()) return name == "whole" ? "0" : "1";
  const auto axis = static_cast<size_t>(one_axis(call, 0).value());
  const std::vector<int64_t> whole = call.integers("shape");
  if (name == "rows") {
    return std::to_string(whole.size() == x.size() ? whole[axis] : x[axis]);
  }
  x[axis] = call.type(1).shape[axis];
  return x == call.type(1).shape ? "1" : "0";
}

// The placeholders of concat. {start}: where operand number `each` begins;
// {length}: its size along the axis.
std::string concat_word(const Call& call, std::string_view name, size_t each) {
  const auto axis = static_cast<size_t>(one_axis(call, 0).value());
  if (name == "length") return std::to_string(call.type(each).shape[axis]);
  if (name != "start") return "";
  int64_t start = 0;
  for (size_t i = 0; i < each; ++i) start += call.type(i).shape[axis];
  return std::to_string(start);
}

Status types_stack(Call& call) {
  Shape shape = call.type(0).shape;
  for (size_t i = 1; i < call.arguments.size(); ++i) {
    if (call.type(i).shape == shape) continue;
    return Error{call.describe(0) + " and " + call.describe(i) +
                 " must have one shape"};
  }
  if (Status s = need_rank(shape.size() + 1); !s.ok()) return s;
  const auto axis = one_axis(call, 0, shape.size() + 1);
  if (!axis.ok()) return axis.error();
  shape.insert(static_cast<size_t>(axis.value()),
               static_cast<int64_t>(call.arguments.size()));
  call.results.push_back({promote(call.arguments), shape});
  return ok_status();
}

// The placeholder of stack. {each}: the number of the operand.
std::string stack_word(const Call&, std::string_view name, size_t each) {
  return name == "each" ? std::to_string(each) : "";
}

Status types_split(Call& call) {
  const auto cuts = split_cuts(call);
  if (!cuts.ok()) return cuts.error();
  const auto axis = static_cast<size_t>(one_axis(call, 0).value());
  for (const Cut& cut : cuts.value()) {
    Type type = call.type(0);
    type.shape[axis] = cut.count;
    call.results.push_back(type);
  }
  return ok_status();
}

std::string split_word(const Call& call, std::string_view name, size_t each) {
  if (name != "start" && name != "length") return "";
  const auto axis = static_cast<size_t>(one_axis(call, 0).value());
  const auto length = [&](size_t r) { return call.results[r].shape[axis]; };
  if (name == "length") return std::to_string(length(each));
  // Equal parts need no sum, which for each of thousands would be quadratic.
  int64_t start = static_cast<int64_t>(each) * length(each);
  if (call.has_key("sizes")) {
    start = 0;
    for (size_t r = 0; r < each; ++r) start += length(r);
  }
  return std::to_string(start);
}

Status types_embedding_grad(Call& call) {
  const Shape& g = call.type(0).shape;
  const Shape& ids = call.type(1).shape;
  const bool fits =
      g.size() == ids.size() + 1 &&
      reduced_shape(g, {static_cast<int64_t>(ids.size())}, false) == ids;
  if (!fits || call.integer("rows") < 0) {
    return Error{call.describe(0) + " must have one dimension more than " +
                 call.describe(1) + ", and rows= not be negative"};
  }
  call.results.push_back(
      {call.type(0).dtype, Shape{call.integer("rows"), g.back()}});
  return ok_status();
}

// The placeholder of embedding. {table_rows}: the number of rows of the table;
// those of the whole table, if shape= gives them.
std::string embedding_word(const Call& call, std::string_view name, size_t) {
  if (name != "table_rows") return "";
  const std::vector<int64_t> whole = call.integers("shape");
  if (!whole.empty()) return std::to_string(whole[0]);
  return std::to_string(call.type(0).shape[0]);
}

// Gives labels to the dimensions that a slice takes whole.
std::vector<Label> labels_slice(const Call& call) {
  const std::vector<Cut> cuts = slice_cuts(call).value();
  std::vector<int32_t> to;
  int32_t next = 0;
  for (size_t d = 0; d < cuts.size(); ++d) {
    const Cut& cut = cuts[d];
    // size= states a size along axis=, which would have to be the whole's.
    const bool sized = call.has_key("size") &&
                       static_cast<int64_t>(d) == one_axis(call, 0).value();
    const bool all = !sized && !cut.dropped && cut.step == 1 &&
                     cut.start == 0 && cut.count == call.type(0).shape[d];
    to.push_back(all ? next : -1);
    if (!cut.dropped) ++next;
  }
  return labels_moved(call, to);
}

std::vector<Label> labels_stack(const Call& call) {
  const size_t rank = call.type(0).shape.size();
  const auto axis = static_cast<size_t>(one_axis(call, 0, rank + 1).value());
  std::vector<int32_t> to;
  for (size_t d = 0; d < rank; ++d) {
    to.push_back(static_cast<int32_t>(d < axis ? d : d + 1));
  }
  return labels_moved(call, to);
}

// The labels of gather, gather_grad and scatter_add, which have indices into x,
// or the result, along the axis. Other dimensions have labels if the index has
// all of x's size there.
std::vector<Label> labels_indexed(const Call& call) {
  const bool gathers = call.op->name == "gather";
  const bool makes = call.op->name == "gather_grad";
  const Shape& table = makes ? call.results[0].shape : call.type(0).shape;
  const auto axis = static_cast<size_t>(one_axis(call, 0).value());
  std::vector<Label> labels;
  for (size_t d = 0; d < table.size(); ++d) {
    Label label(call, call.type(1).shape[d]);
    const LabelDim place{static_cast<int32_t>(d), 1};
    label.arguments[1] = place;
    (gathers ? label.results[0] : label.arguments[makes ? 0 : 2]) = place;
    if (d == axis) {
      label.is_summed = !gathers;
    } else if (table[d] == call.type(1).shape[d]) {
      label.arguments[0] = label.results[0] = place;
    } else {
      continue;
    }
    labels.push_back(std::move(label));
  }
  Label rows(call, table[axis]);
  const LabelDim along{static_cast<int32_t>(axis), 1};
  if (!makes) rows.arguments[0] = along;
  if (!gathers) rows.results[0] = along;
  rows.is_summed = gathers;
  rows.needs_split = rows.is_looked_up = true;
  labels.push_back(std::move(rows));
  return labels;
}

// The rows of the table are looked up: only the table, or its gradient, has
// them.
std::vector<Label> labels_embedding(const Call& call) {
  std::vector<Label> labels = labels_by_terms(call);
  const bool backward = call.op->name == "embedding_grad";
  for (Label& label : labels) {
    const LabelDim& table = backward ? label.results[0] : label.arguments[0];
    const LabelDim& other = backward ? label.arguments[0] : label.results[0];
    label.is_looked_up = table.dim == 0 && !other.is_there();
    label.needs_split = label.is_looked_up;
  }
  return labels;
}

constexpr Row kIndexingRows[] = {
    {.signature = "y = slice x any... [axis=] [size=]",
     .linear = "0",
     .gradient = R"(
       [form=plain dropped=1] t = reshape dy shape={x.kept}
       [form=plain dropped=1] dx = pad t width={width}
       [form=plain dropped=0] dx = pad dy width={width}
       [form=strided dropped=1] t = reshape dy shape={x.kept}
       [form=strided dropped=0] t = copy dy
       [form=strided] u = unsqueeze t axis={after}
       [form=strided] p = pad u width={gaps}
       [form=strided] m = reshape p shape={x.merged}
       [form=strided] dx = pad m width={width}
       [form=scattered] a = arange i64[{x.elements}]
       [form=scattered] b = reshape a shape={x.shape}
       [form=scattered] c = slice b any...
       [form=scattered] i = reshape c shape={y.elements}
       [form=scattered] v = reshape dy shape={y.elements}
       [form=scattered] z = zeros {x.dtype}[{x.elements}]
       [form=scattered] s = scatter_add z i v
       [form=scattered] dx = reshape s shape={x.shape}
       [form=named] a = arange i64[{size}] any...
       [form=named] n = mod a {extent}
       [form=named] b = reshape n shape={along}
       [form=named] i = expand b shape={y.shape}
       [form=named] z = zeros {dx.type}
       [form=named] dx = scatter_add z i dy axis={axis})",
     .types = types_slice,
     .labels = labels_slice,
     .placeholder = slice_word,
     .flops = 0,
     .sense = "A part of x: a range or an index for each axis, or size= "
              "elements along axis= from a start.",
     .details = "slice x 0:4 ::2 3: ranges start:stop:step count negative "
                "bounds from the end and are clipped as in Python; an index "
                "drops its dimension; axes that are not given stay whole. "
                "slice x i axis=0 size=128: the start is a number or the name "
                "of an integer scalar; one that leaves x fails. Errors: steps "
                "below 1; an index or a size outside x; too many ranges.",
     .source = "Python's slices; jax.lax.dynamic_slice_in_dim; torch.narrow; "
               "an index for an axis is torch.select",
     .example = "x = tensor f32[2,4] 1 2 3 4 5 6 7 8\n"
                "y = slice x 1 ::2\n"
                "print y\n"
                "=> y = tensor f32[2] 5 7",
     .lineage = Lineage::kPart},
    {.signature = "y = concat a... axis=0",
     .linear = "0",
     .gradient = "[each] da = slice dy {start} axis={axis} size={length}",
     .types = types_concat,
     .labels = labels_along_axis,
     .placeholder = concat_word,
     .flops = 0,
     .sense = "Tensors one after another along an axis.",
     .details = "Dtypes are promoted. Errors: sizes differ in another axis; no "
                "such axis.",
     .source = "torch.cat, torch.concatenate; numpy.concatenate; of matrices "
               "torch.vstack; with axis=1 "
               "torch.hstack; of x and x it is torch.tile, "
               "torch.Tensor.repeat; of two slices it is torch.roll",
     .places = "axis",
     .example = "x = tensor f32[2] 1 2\n"
                "y = concat x x\n"
                "print y\n"
                "=> y = tensor f32[4] 1 2 1 2"},
    {.signature = "y = stack a... axis=0",
     .linear = "0",
     .gradient = R"(
       [each] t = slice dy {each} axis={axis} size=1
       [each] da = reshape t shape={a.shape})",
     .expansion = R"(
       [each] t = unsqueeze a axis={axis}
       y = concat t... axis={axis})",
     .types = types_stack,
     .labels = labels_stack,
     .placeholder = stack_word,
     .flops = 0,
     .sense = "Tensors of one shape along a new axis.",
     .details = "axis= says where it is in the result. Dtypes are promoted. "
                "Errors: shapes differ; no such axis.",
     .source = "torch.stack",
     .places = "axis",
     .example = "x = tensor f32[2] 1 2\n"
                "y = stack x x axis=1\n"
                "print y\n"
                "=> y = tensor f32[2,2] 1 1 2 2"},
    {.signature = "a... = split x axis=0 [sizes=]",
     .linear = "0",
     .gradient = "dx = concat da... axis={axis}",
     .expansion = "[each] a = slice x {start} axis={axis} size={length}",
     .types = types_split,
     .labels = labels_along_axis,
     .placeholder = split_word,
     .flops = 0,
     .sense = "As many parts along an axis as there are results.",
     .details = "Equal parts, or of the lengths in sizes=. Errors: the size is "
                "no multiple of the number of results; lengths that do not sum "
                "to it.",
     .source = "torch.split; torch.chunk; and squeeze are torch.unbind",
     .places = "axis",
     .example = "x = tensor f32[4] 1 2 3 4\n"
                "a b = split x\n"
                "print b\n"
                "=> b = tensor f32[2] 3 4"},
    {.signature = "y = gather x index axis=0 [split=] [shape=] [part=]",
     .linear = "0",
     .accepts = "any,int",
     .gradient = R"(
       [whole=1] dx = gather_grad dy index rows={rows} keys...
       [whole=0] z = zeros {dx.type}
       [whole=0] dx = scatter_add z index dy keys...)",
     .types = types_gather,
     .labels = labels_indexed,
     .placeholder = gather_word,
     .flops = 0,
     .sense = "Elements of x picked along an axis.",
     .details = "y[i,j] = x[index[i,j],j] for axis=0, and so on; y is shaped "
                "as index. Errors: other numbers of dimensions; index larger "
                "than x in another axis; an index below 0 or beyond x fails "
                "when it is met. part= speaks of x: indices are those of the "
                "whole, and an element that is elsewhere reads as 0.",
     .source = "torch.gather; numpy.take_along_axis",
     .example = "x = tensor f32[2,2] 1 2 3 4\n"
                "i = tensor i64[1,2] 1 0\n"
                "y = gather x i\n"
                "print y\n"
                "=> y = tensor f32[1,2] 3 2",
     .lineage = Lineage::kPart,
     .part_operand = 0},
    {.signature = "z = gather_grad g index rows= axis=0 [split=] [shape=] "
                  "[part=]",
     .linear = "0",
     .accepts = "float,int",
     .gradient = "dg = gather dz index keys...",
     // One op, so that the zeros are added to where they are.
     .expansion = R"(
       o = zeros {z.type}
       z = scatter_add o index g axis={axis} part={part})",
     .types = types_gather_grad,
     .labels = labels_indexed,
     .flops = 0,
     .sense = "Gradient of gather: row i of rows= along axis= is the sum of "
              "g's elements where index is i.",
     .source = "PyTorch's gather_backward",
     .internal = true},
    {.signature = "y = scatter_add x index src axis=0 [split=] [shape=] "
                  "[part=]",
     .linear = "02",
     .accepts = "any,int,any",
     .gradient = R"(
       dx = copy dy
       dsrc = gather dy index keys...)",
     .types = types_scatter_add,
     .labels = labels_indexed,
     .sense = "x with elements of src added where index says.",
     .details = "x[index[i,j],j] += src[i,j] for axis=0, and so on, in "
                "row-major order. Errors: index and src of different shapes, x "
                "and src of different dtypes; index larger than x in another "
                "axis; an index below 0 or beyond x fails when it is met. "
                "part= speaks of x: indices are those of the whole, and what "
                "would be added elsewhere is dropped.",
     .source = "torch.Tensor.scatter_add; with an index as large as src "
               "torch.index_add",
     .example = "x = zeros f32[3]\n"
                "i = tensor i64[3] 0 2 2\n"
                "s = tensor f32[3] 1 2 3\n"
                "y = scatter_add x i s\n"
                "print y\n"
                "=> y = tensor f32[3] 1 0 5"},
    {.signature = "y = embedding table ids [split=] [shape=] [part=]",
     .index = "vd,...->...d",
     .linear = "0",
     .dtype = "first",
     .accepts = "any,int",
     .gradient = "dtable = embedding_grad dy ids rows={table_rows} keys...",
     .labels = labels_embedding,
     .placeholder = embedding_word,
     .flops = 0,
     .sense = "The row of the table for each id.",
     .details = "table [v,d] and ids [...] give [...,d]. Errors: the table is "
                "no matrix; an id below 0 or beyond the table fails "
                "when it is met. part= speaks of the table: ids are those of "
                "the whole, and a row that is elsewhere reads as 0.",
     .source = "torch.nn.functional.embedding",
     .example = "t = tensor f32[3,2] 1 2 3 4 5 6\n"
                "i = tensor i64[2] 2 0\n"
                "y = embedding t i\n"
                "print y\n"
                "=> y = tensor f32[2,2] 5 6 1 2",
     .part_operand = 0},
    {.signature = "z = embedding_grad g ids rows= [split=] [shape=] [part=]",
     .index = "...d,...->vd",
     .linear = "0",
     .accepts = "float,int",
     .gradient = "dg = embedding dz ids keys...",
     .types = types_embedding_grad,
     .labels = labels_embedding,
     .sense = "A table of rows= rows: row i is the sum of g where ids is i.",
     .details = "Sums are taken in the order of ids.",
     .source = "PyTorch's embedding_dense_backward",
     .internal = true},
};

}  // namespace

constinit const Family kIndexing{"indexing", "Slices, joins and lookups.",
                                 kIndexingRows};

}  // namespace gt
