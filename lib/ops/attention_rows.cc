// Attention: every row of q takes a mean of v's rows, weighted by how near
// their keys are.
#include <utility>

#include "ops/attention.h"
#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Type result_of(const Call& call, const Attention& a, int64_t rows,
               int64_t last) {
  Type type{call.type(0).dtype, a.lead};
  type.shape.push_back(rows);
  type.shape.push_back(last);
  return type;
}

Type lse_of(const Call& call, const Attention& a) {
  Type type{wide_dtype(call.type(0).dtype), a.lead};
  if (call.has_key("heads")) type.shape.push_back(a.heads);
  type.shape.push_back(a.rows);
  return type;
}

Status types_attention(Call& call) {
  const auto found = attention_of(call);
  if (!found.ok()) return found.error();
  const Attention& a = found.value();
  call.results.push_back(result_of(call, a, a.rows, a.heads * a.width));
  if (call.result_count > 1) call.results.push_back(lse_of(call, a));
  return ok_status();
}

Status types_attention_grad(Call& call) {
  const auto found = attention_of(call);
  if (!found.ok()) return found.error();
  const Attention& a = found.value();
  const Type o = result_of(call, a, a.rows, a.heads * a.width);
  const Type lse = lse_of(call, a);
  const Type* wanted[] = {&o, &lse, &o, &lse};
  for (size_t i = 3; i < call.arguments.size(); ++i) {
    if (!call.given(i) || call.type(i) == *wanted[i - 3]) continue;
    return Error{call.describe(i) + " must have the type " +
                 to_string(*wanted[i - 3])};
  }
  call.results.push_back(result_of(call, a, a.rows, a.heads * a.depth));
  call.results.push_back(result_of(call, a, a.columns, a.heads * a.depth));
  call.results.push_back(result_of(call, a, a.columns, a.heads * a.width));
  return ok_status();
}

// {rows} {columns} {first} {factor} as in Attention.
std::string attention_word(const Call& call, std::string_view name, size_t) {
  const Attention a = attention_of(call).value();
  if (name == "rows") return std::to_string(a.rows);
  if (name == "columns") return std::to_string(a.columns);
  if (name == "first") return std::to_string(a.first);
  if (name == "factor") return number_text(a.scale);
  return "";
}

// [...,s,h*d] and [...,h,s,d].
Status types_split_heads(Call& call) {
  Type type = call.type(0);
  call.results.push_back(type);
  if (!call.has_key("heads")) return ok_status();
  Shape& shape = call.results[0].shape;
  const int64_t heads = call.integer("heads");
  const size_t rank = type.shape.size();
  if (rank < 2 || rank >= Shape::kMaxRank || heads < 1 ||
      type.shape.back() % heads != 0) {
    return Error{"heads= does not divide " + call.describe(0)};
  }
  shape[rank - 1] /= heads;
  shape.insert(rank - 2, heads);
  return ok_status();
}

Status types_merge_heads(Call& call) {
  Type type = call.type(0);
  const size_t rank = type.shape.size();
  if (call.has_key("heads")) {
    if (rank < 3 || type.shape[rank - 3] != call.integer("heads")) {
      return Error{call.describe(0) +
                   " has not heads=" + std::string(call.key("heads"))};
    }
    type.shape[rank - 1] *= type.shape[rank - 3];
    type.shape.erase(rank - 3);
  }
  call.results.push_back(type);
  return ok_status();
}

// {parts}: [...,s,h,d] as a shape; {order}: the axes that exchange s and h.
std::string heads_word(const Call& call, std::string_view name, size_t) {
  if (name != "parts" && name != "order") return "";
  const bool splits = call.op->name == "split_heads";
  std::vector<int64_t> parts, order;
  const Shape& shape = splits ? call.results[0].shape : call.type(0).shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    parts.push_back(shape[i]);
    order.push_back(static_cast<int64_t>(i));
  }
  const size_t s = shape.size() - 2;
  std::swap(parts[s], parts[s - 1]);
  std::swap(order[s], order[s - 1]);
  return list_text(name == "parts" ? parts : order);
}

// Leading dimensions, which broadcast; heads; q's rows, which the gradients of
// k and v are sums over. k's rows are whole.
std::vector<Label> labels_attention(const Call& call) {
  const Attention a = attention_of(call).value();
  const bool has_heads = call.has_key("heads");
  const bool backward = call.op->name == "attention_grad";
  const auto lead = static_cast<int32_t>(a.lead.size());
  const auto is_lse = [&](size_t i) {
    return backward ? i == 4 || i == 6 : false;
  };
  std::vector<Label> labels;
  for (int32_t d = 0; d < lead; ++d) {
    Label label(call, a.lead[static_cast<size_t>(d)]);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (!call.given(i)) continue;
      const Shape& shape = call.type(i).shape;
      // q, k and v may have fewer leading dimensions.
      const int32_t dim =
          i < 3 ? d - lead + static_cast<int32_t>(shape.size()) - 2 : d;
      if (dim >= 0 && shape[static_cast<size_t>(dim)] == label.size) {
        label.arguments[i].dim = dim;
      }
    }
    for (LabelDim& place : label.results) place.dim = d;
    labels.push_back(std::move(label));
  }
  Label rows(call, a.rows);
  rows.needs_split = a.causal;
  Label heads(call, a.heads);
  heads.is_never_empty = true;
  heads.needs_split = true;
  const auto last = [](const Type& type) {
    return static_cast<int32_t>(type.shape.size()) - 1;
  };
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!call.given(i)) continue;
    const Type& type = call.type(i);
    if (i == 0 || i > 2) {
      rows.arguments[i].dim = is_lse(i) ? last(type) : last(type) - 1;
    }
    heads.arguments[i] =
        is_lse(i) ? LabelDim{lead, 1}
                  : LabelDim{last(type), type.shape.back() / a.heads};
  }
  for (size_t r = 0; r < call.results.size(); ++r) {
    const Type& type = call.results[r];
    const bool lse = !backward && r == 1;
    heads.results[r] = lse ? LabelDim{lead, 1}
                           : LabelDim{last(type), type.shape.back() / a.heads};
    if (!backward || r == 0) {
      rows.results[r].dim = lse ? last(type) : last(type) - 1;
    } else {
      rows.is_summed = true;
    }
  }
  labels.push_back(std::move(rows));
  if (has_heads) labels.push_back(std::move(heads));
  return labels;
}

constexpr Row kRows[] = {
    {.signature = "o [lse] = attention q k v causal=0 [heads=] [scale=] "
                  "[split=] [shape=] [part=]",
     .index = "...sd!,...t!d!,...t!d!->...sd,...s",
     .accepts = "float",
     .gradient = R"(
       [lse dlse] dq dk dv = attention_grad q k v o lse do dlse keys...
       [lse !dlse] dq dk dv = attention_grad q k v o lse do keys...
       [!lse] c l = attention q k v keys...
       [!lse] dq dk dv = attention_grad q k v c l do keys...)",
     .expansion = R"(
       qh = split_heads q heads={heads}
       kh = split_heads k heads={heads}
       vh = split_heads v heads={heads}
       qs = mul qh {factor}
       s = matmul qs kh tb=1
       [causal=1] i = arange i64[{rows}] {first}
       [causal=1] j = arange i64[{columns}]
       [causal=1] r = unsqueeze i axis=-1
       [causal=1] f = le j r
       [causal=1] t = where f s -inf
       [causal=0] t = copy s
       [columns!=0] m = max t axis=-1 keepdims=1
       [columns=0] m = sum t axis=-1 keepdims=1
       x = sub t m
       e = exp x
       z = sum e axis=-1 keepdims=1
       p = div e z
       u = matmul p vh
       o = merge_heads u heads={heads}
       [lse] n = log z
       [lse] y = add n m
       [lse] lse = squeeze y axis=-1)",
     .in_f32 = true,
     .types = types_attention,
     .labels = labels_attention,
     .placeholder = attention_word,
     .flops = 4,
     .sense = "softmax(q k^T scale) v: each row of q takes the mean of v's "
              "rows that its products with the rows of k weight.",
     .details = "q [...,s,d], k [...,t,d] and v [...,t,e] give o [...,s,e]; "
                "leading dimensions broadcast. heads=h divides the last "
                "dimension of all into h attentions of their own; beside "
                "split= it counts the heads of the whole. scale is "
                "1/sqrt(d), d of one head, unless given. causal=1: row i sees "
                "the columns up to i; under part= rows count from where the "
                "block begins. lse is the logarithm of each row's sum of "
                "exponentials, f32 (f64 of f64), [...,s] or with heads= "
                "[...,h,s]. f16 and bf16 are computed in f32. Of no columns, "
                "o is 0 and lse -inf. Errors: sizes or dtypes differ; heads "
                "that do not divide.",
     .source = "torch.nn.functional.scaled_dot_product_attention; Vaswani et "
               "al., Attention is all you need, 2017",
     .example = "q = tensor f32[2,1] 1 1\n"
                "v = tensor f32[2,1] 2 6\n"
                "o = attention q q v causal=1\n"
                "print o\n"
                "=> o = tensor f32[2,1] 2 4"},
    // o and lse are what attention gave of q, k and v: no variables of their
    // own, so what the gradient says of q, k and v is all.
    {.signature = "gq gk gv = attention_grad q k v o lse go [glse] causal=0 "
                  "[heads=] [scale=] [split=] [shape=] [part=]",
     .index = "...sd!,...t!d!,...t!d!,...sd!,...s,...sd!,...s->...sd,...td,"
              "...td",
     .linear = "56",
     .accepts = "float",
     .gradient = R"(
       qh = split_heads q heads={heads}
       kh = split_heads k heads={heads}
       vh = split_heads v heads={heads}
       gh = split_heads go heads={heads}
       ah = split_heads dgq heads={heads}
       bh = split_heads dgk heads={heads}
       ch = split_heads dgv heads={heads}
       qs = mul qh {factor}
       s = matmul qs kh tb=1
       [causal=1] i = arange i64[{rows}] {first}
       [causal=1] j = arange i64[{columns}]
       [causal=1] r = unsqueeze i axis=-1
       [causal=1] f = le j r
       [causal=1] t = where f s -inf
       [causal=0] t = copy s
       l = unsqueeze lse axis=-1
       x = sub t l
       p = exp x
       gp = matmul gh vh tb=1
       pg = mul p gp
       n0 = sum pg axis=-1 keepdims=1
       [glse] gl = unsqueeze glse axis=-1
       [glse] n = sub n0 gl
       [!glse] n = copy n0
       u = sub gp n
       gs = mul p u
       w0 = matmul ah kh tb=1
       w1 = matmul qh bh tb=1
       w2 = add w0 w1
       w = mul w2 {factor}
       pw = mul p w
       wn = sum pw axis=-1 keepdims=1
       dglse = squeeze wn axis=-1
       wc = sub w wn
       mw = mul p wc
       y0 = matmul mw vh
       y1 = matmul p ch
       y2 = add y0 y1
       dgo = merge_heads y2 heads={heads}
       z0 = matmul mw gh ta=1
       dv = merge_heads z0 heads={heads}
       xc = matmul gh ch tb=1
       r0 = mul u w
       r1 = mul wn gp
       r2 = sub r0 r1
       r3 = add r2 xc
       pr = mul p r3
       rn = sum pr axis=-1 keepdims=1
       rc = sub r3 rn
       hs = mul p rc
       a0 = matmul hs kh
       a1 = matmul gs bh
       a2 = add a0 a1
       a3 = mul a2 {factor}
       dq = merge_heads a3 heads={heads}
       b0 = matmul hs qh ta=1
       b1 = matmul gs ah ta=1
       b2 = add b0 b1
       b3 = mul b2 {factor}
       dk = merge_heads b3 heads={heads})",
     .expansion = R"(
       qh = split_heads q heads={heads}
       kh = split_heads k heads={heads}
       vh = split_heads v heads={heads}
       oh = split_heads o heads={heads}
       gh = split_heads go heads={heads}
       qs = mul qh {factor}
       s = matmul qs kh tb=1
       [causal=1] i = arange i64[{rows}] {first}
       [causal=1] j = arange i64[{columns}]
       [causal=1] r = unsqueeze i axis=-1
       [causal=1] f = le j r
       [causal=1] t = where f s -inf
       [causal=0] t = copy s
       l = unsqueeze lse axis=-1
       x = sub t l
       p = exp x
       y0 = matmul p gh ta=1
       gv = merge_heads y0 heads={heads}
       gp = matmul gh vh tb=1
       og = mul oh gh
       n0 = sum og axis=-1 keepdims=1
       [glse] gl = unsqueeze glse axis=-1
       [glse] n = sub n0 gl
       [!glse] n = copy n0
       u = sub gp n
       gs = mul p u
       w0 = matmul gs kh
       w1 = mul w0 {factor}
       gq = merge_heads w1 heads={heads}
       z0 = matmul gs qs ta=1
       gk = merge_heads z0 heads={heads})",
     .in_f32 = true,
     .types = types_attention_grad,
     .labels = labels_attention,
     .placeholder = attention_word,
     .flops = 10,
     .sense = "Gradient of attention, from its results and their gradients.",
     .source = "Dao et al., FlashAttention, NeurIPS 2022, algorithm 4",
     .internal = true,
     .part_operand = 3},
    {.signature = "y = split_heads x [heads=]",
     .linear = "0",
     .gradient = "dx = merge_heads dy heads={heads}",
     .expansion = R"(
       [heads] t = reshape x shape={parts}
       [heads] y = transpose t axes={order}
       [!heads] y = copy x)",
     .types = types_split_heads,
     .labels = labels_none,
     .placeholder = heads_word,
     .flops = 0,
     .sense = "[...,s,h*d] as [...,h,s,d]; x itself without heads=.",
     .internal = true},
    {.signature = "y = merge_heads x [heads=]",
     .linear = "0",
     .gradient = "dx = split_heads dy heads={heads}",
     .expansion = R"(
       [heads] t = transpose x axes={order}
       [heads] y = reshape t shape={y.shape}
       [!heads] y = copy x)",
     .types = types_merge_heads,
     .labels = labels_none,
     .placeholder = heads_word,
     .flops = 0,
     .sense = "[...,h,s,d] as [...,s,h*d]; x itself without heads=.",
     .internal = true},
};

}  // namespace

constinit const Family kAttention{"attention", "Attention.", kRows};

}  // namespace gt
