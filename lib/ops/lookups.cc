// Ops on rows and elements that an index names: take, overwrite, one-hot.
#include <algorithm>
#include <numeric>

#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/part.h"
#include "ops/row_text.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

// The shapes of a take or its gradient: the tensor that has the rows is
// [lead,rows,trail], the one that was picked from it [lead,index,trail].
struct Take {
  Shape lead, index, trail;
  int64_t rows = 0;   // rows that this rank has
  int64_t whole = 0;  // rows that an index may name
  int64_t first = 0;  // where this rank's rows begin
  bool flat = false;  // axis= is absent: x is read as one row after another

  int64_t width() const { return lead.elements() * trail.elements(); }
};

Shape part_of_shape(const Shape& shape, size_t begin, size_t end) {
  return Shape(
      std::span<const int64_t>(shape.begin() + begin, shape.begin() + end));
}

Shape joined(const Shape& a, const Shape& b, const Shape& c) {
  Shape out = a;
  for (const int64_t n : b) out.push_back(n);
  for (const int64_t n : c) out.push_back(n);
  return out;
}

bool is_backward(const Call& call) { return call.op->name == "take_grad"; }

// Reads a call of take x index.
Result<Take> take_forward(const Call& call) {
  Take t;
  const Shape& x = call.type(0).shape;
  t.index = call.type(1).shape;
  t.flat = !call.has_key("axis") && x.size() != 1;
  if (t.flat) {
    t.rows = t.whole = x.elements();
    return t;
  }
  const auto axis =
      call.has_key("axis") ? one_axis(call, 0) : Result<int64_t>(0);
  if (!axis.ok()) return axis.error();
  const auto k = static_cast<size_t>(axis.value());
  t.lead = part_of_shape(x, 0, k);
  t.trail = part_of_shape(x, k + 1, x.size());
  t.rows = t.whole = x[k];
  // In a gradient of pieces, shape= gives the sizes of the whole.
  const std::vector<int64_t> whole = call.integers("shape");
  if (whole.size() == x.size()) t.whole = whole[k];
  return t;
}

// Reads a call of take_grad g index, whose g is [lead,index,trail].
Result<Take> take_backward(const Call& call) {
  Take t;
  const Shape& g = call.type(0).shape;
  t.index = call.type(1).shape;
  t.rows = t.whole = call.integer("rows");
  const size_t rank = g.size() + 1 - std::min(t.index.size(), g.size());
  const auto axis = one_axis(call, 0, rank);
  if (!axis.ok()) return axis.error();
  const auto k = static_cast<size_t>(axis.value());
  const size_t end = k + t.index.size();
  if (t.rows < 0 || end > g.size() || !(part_of_shape(g, k, end) == t.index)) {
    return Error{call.describe(0) + " must have the dimensions of " +
                 call.describe(1) + " from axis " + std::to_string(k) +
                 " on, and rows= not be negative"};
  }
  t.lead = part_of_shape(g, 0, k);
  t.trail = part_of_shape(g, end, g.size());
  return t;
}

Result<Take> take_of(const Call& call) {
  auto take = is_backward(call) ? take_backward(call) : take_forward(call);
  if (!take.ok() || !call.has_key("part") || call.results.empty()) return take;
  Take& t = take.value();
  const auto part = part_of(call);
  if (!part.ok()) return part.error();
  const size_t axis = t.lead.size();
  if (t.flat || part.value().whole.size() <= axis) return take;
  t.whole = part.value().whole[axis];
  t.first = part.value().start[axis];
  return take;
}

Status types_take(Call& call) {
  if (Status s = need_name(call, 0); !s.ok()) return s;
  const auto take = take_of(call);
  if (!take.ok()) return take.error();
  const Take& t = take.value();
  const size_t rank = t.lead.size() + t.index.size() + t.trail.size();
  if (Status s = need_rank(rank); !s.ok()) return s;
  call.results.push_back(
      {call.type(0).dtype, joined(t.lead, t.index, t.trail)});
  return ok_status();
}

Status types_take_grad(Call& call) {
  if (Status s = need_name(call, 0); !s.ok()) return s;
  const auto take = take_of(call);
  if (!take.ok()) return take.error();
  const Take& t = take.value();
  if (Status s = need_rank(t.lead.size() + 1 + t.trail.size()); !s.ok()) {
    return s;
  }
  call.results.push_back(
      {call.type(0).dtype, joined(t.lead, {t.rows}, t.trail)});
  return ok_status();
}

// Returns the order with axes [from, from + n) first and then the others; or,
// if `undone`, the order that undoes this.
std::vector<int64_t> axes_first(size_t rank, size_t from, size_t n,
                                bool undone) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](size_t i) {
    return order.begin() + static_cast<std::ptrdiff_t>(i);
  };
  if (undone) {
    std::rotate(order.begin(), at(n), at(from + n));
  } else {
    std::rotate(order.begin(), at(from), at(from + n));
  }
  return order;
}

// The placeholders of take. {form}: "flat", "first" (the rows are dimension 0)
// or "inner"; {whole}: the number of rows that an index may name; {here}: of
// those that x has, which is that of the whole beside split=; {table} {picked}:
// the shapes of a matrix of the rows, and of those that were picked; {front}
// {back}: the orders of dimensions that bring the rows, or what was picked, to
// the front and back; {kept}: the shape with them in front; {part}: part= of
// the table; {picks}: the index as a list.
std::string take_placeholder(const Call& call, std::string_view name, size_t) {
  const Take t = take_of(call).value();
  const Shape all = joined(t.lead, t.trail, {});
  const Shape& gone = is_backward(call) ? t.index : Shape{t.rows};
  const Shape& made = is_backward(call) ? Shape{t.rows} : t.index;
  const auto order = [&](const Shape& middle, bool undone) {
    return list_text(axes_first(all.size() + middle.size(), t.lead.size(),
                                middle.size(), undone));
  };
  if (name == "form") {
    return t.flat ? "flat" : t.lead.empty() ? "first" : "inner";
  }
  if (name == "whole") return std::to_string(t.whole);
  if (name == "here") {
    return std::to_string(call.has_key("shape") ? t.whole : t.rows);
  }
  if (name == "table") return list_text(Shape{t.rows, t.width()});
  if (name == "picked") {
    return list_text(Shape{t.index.elements(), t.width()});
  }
  if (name == "picks") return std::to_string(t.index.elements());
  if (name == "front") return order(gone, false);
  if (name == "back") return order(made, true);
  if (name == "kept") return list_text(joined(made, all, {}));
  if (name != "part" || !call.has_key("part")) return "";
  return std::to_string(t.first) + ",0/" + std::to_string(t.whole) + "," +
         std::to_string(t.width());
}

// The dimensions beside the rows have labels; so have those of the index, which
// take_grad sums over; the rows themselves are looked up.
std::vector<Label> labels_take(const Call& call) {
  const Take t = take_of(call).value();
  const bool backward = is_backward(call);
  std::vector<Label> labels;
  const auto add = [&](int64_t size, size_t picked, int32_t row,
                       int32_t index) {
    Label label(call, size);
    const LabelDim at{static_cast<int32_t>(picked), 1};
    (backward ? label.arguments[0] : label.results[0]) = at;
    if (row >= 0) {
      (backward ? label.results[0] : label.arguments[0]).dim = row;
    }
    if (index >= 0) label.arguments[1].dim = index;
    label.is_summed = backward && row < 0;
    labels.push_back(std::move(label));
  };
  const size_t axis = t.lead.size();
  for (size_t d = 0; d < axis; ++d) {
    add(t.lead[d], d, static_cast<int32_t>(d), -1);
  }
  for (size_t d = 0; d < t.index.size(); ++d) {
    add(t.index[d], axis + d, -1, static_cast<int32_t>(d));
  }
  for (size_t d = 0; d < t.trail.size(); ++d) {
    add(t.trail[d], axis + t.index.size() + d,
        static_cast<int32_t>(axis + 1 + d), -1);
  }
  if (t.flat) return labels;
  Label table(call, t.rows);
  (backward ? table.results[0] : table.arguments[0]).dim =
      static_cast<int32_t>(axis);
  table.is_summed = !backward;
  table.needs_split = table.is_looked_up = true;
  labels.push_back(std::move(table));
  return labels;
}

// The labels of scatter and scatter_grad. Dimensions other than the axis have
// labels if the index has all of x's size there. The index is not cut along the
// axis: of two equal indices the later one counts, so they must stay together.
std::vector<Label> labels_scatter(const Call& call) {
  const bool backward = call.op->name == "scatter_grad";
  const auto axis = static_cast<size_t>(one_axis(call, 0).value());
  const Shape& x = call.type(0).shape;
  std::vector<Label> labels;
  for (size_t d = 0; d < x.size(); ++d) {
    if (d == axis || x[d] != call.type(1).shape[d]) continue;
    Label label(call, x[d]);
    for (LabelDim& place : label.arguments) place.dim = static_cast<int32_t>(d);
    label.results[0] = label.arguments[0];
    labels.push_back(std::move(label));
  }
  Label table(call, x[axis]);
  table.arguments[0].dim = static_cast<int32_t>(axis);
  if (!backward) table.results[0] = table.arguments[0];
  table.is_summed = backward;
  table.needs_split = table.is_looked_up = true;
  labels.push_back(std::move(table));
  return labels;
}

// The placeholders of scatter. {places}: an i64 type in the shape of g; {along}
// {length}: the index's size along the axis, as a shape that is 1 elsewhere,
// and as a number.
std::string scatter_word(const Call& call, std::string_view name, size_t) {
  const auto axis = static_cast<size_t>(one_axis(call, 0).value());
  const Shape& index = call.type(1).shape;
  if (name == "places") return to_string(Type{Dtype::kI64, call.type(0).shape});
  if (name == "length") return std::to_string(index[axis]);
  if (name != "along") return "";
  std::vector<int64_t> along(index.size(), 1);
  along[axis] = index[axis];
  return list_text(along);
}

Status types_one_hot(Call& call) {
  const int64_t classes = call.integer("num_classes");
  if (classes < 1) return Error{"num_classes= must be at least 1"};
  Shape shape = call.type(0).shape;
  if (Status s = need_rank(shape.size() + 1); !s.ok()) return s;
  shape.push_back(classes);
  call.results.push_back({Dtype::kI64, shape});
  return ok_status();
}

// The placeholder of one_hot. {hot}: the type of the ones.
std::string one_hot_word(const Call& call, std::string_view name, size_t) {
  if (name != "hot") return "";
  Shape shape = call.type(0).shape;
  shape.push_back(1);
  return to_string(Type{Dtype::kI64, shape});
}

std::vector<Label> labels_one_hot(const Call& call) {
  std::vector<int32_t> to(call.type(0).shape.size());
  std::iota(to.begin(), to.end(), 0);
  return labels_moved(call, to);
}

// Expansions begin with this: the index as a list of rows, none of them
// negative.
constexpr char kRowsOfIndex[] = R"(
       c = cast index i64
       n = lt c 0
       l = ge c -{whole}
       b = and n l
       s = add c {whole}
       w = where b s c
       i = reshape w shape={picks})";
constexpr auto kTake = row_text(kRowsOfIndex, R"(
       [form=inner] m = transpose x axes={front}
       [form!=inner] m = copy x
       t = reshape m shape={table}
       p = embedding t i part={part}
       [form=inner] k = reshape p shape={kept}
       [form=inner] y = transpose k axes={back}
       [form!=inner] y = reshape p shape={y.shape})");
constexpr auto kTakeGrad = row_text(kRowsOfIndex, R"(
       [form=inner] m = transpose g axes={front}
       [form!=inner] m = copy g
       p = reshape m shape={picked}
       t = embedding_grad p i rows={rows} part={part}
       [form=inner] k = reshape t shape={kept}
       [form=inner] z = transpose k axes={back}
       [form!=inner] z = reshape t shape={z.shape})");

constexpr Row kLookupRows[] = {
    {.signature = "y = take x index [axis=] [split=] [shape=] [part=]",
     .index = "...,...->...",
     .linear = "0",
     .accepts = "any,int",
     .gradient = R"(
       [form=flat] f = take_grad dy index rows={x.elements}
       [form=flat] dx = reshape f shape={x.shape}
       [form!=flat] dx = take_grad dy index rows={here} keys...)",
     .expansion = kTake.data(),
     .types = types_take,
     .labels = labels_take,
     .placeholder = take_placeholder,
     .flops = 0,
     .sense = "Slices of x along axis=, or elements of x, that an index names.",
     .details = "y[...,i,...] = x[...,index[i],...]: the index's dimensions "
                "stand where the axis stood. Any order and repeats are "
                "allowed; a negative index counts from the end; the gradient "
                "of what was taken twice adds up. Without axis= the index is "
                "into x's elements in row-major order, as in NumPy and "
                "PyTorch. Errors: no such axis; an index that is no integer; "
                "one that leaves x fails when it is met. part= speaks of x: "
                "indices are those of the whole, and a row that is elsewhere "
                "reads as 0.",
     .source = "numpy.take; torch.take; torch.index_select",
     .places = "axis",
     .example = "x = tensor f32[3,2] 1 2 3 4 5 6\n"
                "i = tensor i64[2] -1 0\n"
                "y = take x i axis=0\n"
                "print y\n"
                "=> y = tensor f32[2,2] 5 6 1 2",
     .lineage = Lineage::kPart,
     .part_operand = 0},
    {.signature = "z = take_grad g index rows= axis=0 [split=] [shape=] "
                  "[part=]",
     .index = "...,...->...",
     .linear = "0",
     .accepts = "float,int",
     .gradient = "dg = take dz index keys...",
     .expansion = kTakeGrad.data(),
     .types = types_take_grad,
     .labels = labels_take,
     .placeholder = take_placeholder,
     .flops = 0,
     .sense = "Gradient of take: slice i along axis= is the sum of g's slices "
              "where index is i.",
     .source = "PyTorch's index_select_backward",
     .internal = true},
    {.signature = "y = scatter x index src axis=0 [split=] [shape=] [part=]",
     .linear = "02",
     .accepts = "any,int,any",
     .gradient = R"(
       o = zeros {src.type}
       dx = scatter dy index o keys...
       dsrc = scatter_grad dy index keys...)",
     .types = types_scatter_add,
     .labels = labels_scatter,
     .flops = 0,
     .sense = "x with elements overwritten by those of src where index says.",
     .details = "y[index[i,j],j] = src[i,j] for axis=0, and so on. Where an "
                "index repeats, the last one in row-major order stays, on any "
                "number of threads and ranks; the others have no gradient "
                "(PyTorch leaves both open). Errors: index and src of "
                "different shapes, x and src of different dtypes; index larger "
                "than x in another axis; an index below 0 or beyond x fails "
                "when it is met. part= speaks of x: indices are those of the "
                "whole, and what would be written elsewhere is dropped.",
     .source = "torch.Tensor.scatter; numpy.put_along_axis",
     .example = "x = zeros f32[3]\n"
                "i = tensor i64[3] 0 2 2\n"
                "s = tensor f32[3] 1 2 3\n"
                "y = scatter x i s\n"
                "print y\n"
                "=> y = tensor f32[3] 1 0 3"},
    {.signature = "z = scatter_grad g index axis=0 [split=] [shape=] [part=]",
     .linear = "0",
     .accepts = "float,int",
     .gradient = R"(
       o = zeros {dg.type}
       dg = scatter o index dz keys...)",
     .expansion = R"(
       a = arange i64[{length}]
       b = reshape a shape={along}
       p = expand b shape={index.shape}
       o = zeros {places}
       w = scatter o index p keys...
       q = gather w index keys...
       m = eq q p
       h = gather g index keys...
       z = where m h 0)",
     .types = types_gather,
     .labels = labels_scatter,
     .placeholder = scatter_word,
     .flops = 0,
     .sense = "Gradient of what scatter wrote: g where index says, 0 where a "
              "later element was written over it.",
     .source = "PyTorch's scatter_backward, and the order of writes",
     .internal = true,
     .part_operand = 0},
    {.signature = "y = one_hot x num_classes=",
     .dtype = "i64",
     .accepts = "int",
     .expansion = R"(
       o = zeros {y.type}
       i = unsqueeze x axis=-1
       h = ones {hot}
       y = scatter o i h axis=-1)",
     .types = types_one_hot,
     .labels = labels_one_hot,
     .placeholder = one_hot_word,
     .flops = 0,
     .sense = "A row for each class number: 1 at the class, 0 elsewhere.",
     .details = "x [...] of integers from 0 to num_classes - 1 gives i64 "
                "[...,num_classes]. Errors: a class below 0 or beyond "
                "num_classes= fails when it is met.",
     .source = "torch.nn.functional.one_hot; its sum over rows is "
               "torch.bincount",
     .places = "num_classes",
     .example = "x = tensor i64[2] 2 0\n"
                "y = one_hot x num_classes=3\n"
                "print y\n"
                "=> y = tensor i64[2,3] 0 0 1 1 0 0"},
};

}  // namespace

constinit const Family kLookups{
    "lookups", "Rows and elements that an index names.", kLookupRows};

}  // namespace gt
