// Attention: every row of q gets a mean of v's rows, weighted by how near their
// keys are to it.
#include "ops/attention_rows.h"

#include "ops/families.h"
#include "ops/row_text.h"

namespace gt {
namespace {

// Computes s, the scores, and i, the numbers of their rows, which begin at
// {first} for a block.
constexpr char kScoresOfRows[] = R"(
       qs = mul qh {factor}
       s = matmul qs kh tb=1
       [causal=1] i = arange i64[{rows}] {first})";

// Computes tm: the scores s, but -inf where the row i may not see the column.
constexpr char kMaskedScores[] = R"(
       [causal=1] j = arange i64[{columns}]
       [causal=1] r = unsqueeze i axis=-1
       [causal=1] f = le j r
       [causal=1] t = where f s -inf
       [causal=0] t = copy s
       [masked=bool] tm = where mask t -inf
       [masked=float] tm = add t mask
       [masked=none] tm = copy t)";

// Computes p: the weights, from lse, which is -inf in a row that sees nothing.
constexpr char kWeightsOfLse[] = R"(
       l0 = unsqueeze lse axis=-1
       [masked!=none] lh = eq l0 -inf
       [masked!=none] l = where lh inf l0
       [masked=none] l = copy l0
       x = sub tm l
       p = exp x)";

// Computes gs: the gradient of the scores. gp is that of the weights, and n0
// has each row's sum of the weights times gp.
constexpr char kGradientOfScores[] = R"(
       [glse] gl = unsqueeze glse axis=-1
       [glse] n = sub n0 gl
       [!glse] n = copy n0
       u = sub gp n
       gs = mul p u)";

constexpr auto kAttentionOfRows = row_text(R"(
       [group=1] br = copy k
       [group=1] cr = copy v
       [group!=1] br = repeat_heads k size={group} heads={k.heads}
       [group!=1] cr = repeat_heads v size={group} heads={v.heads}
       qh = split_heads q heads={heads}
       kh = split_heads br heads={heads}
       vh = split_heads cr heads={heads})",
                                           kScoresOfRows, kMaskedScores, R"(
       [columns!=0] m0 = max tm axis=-1 keepdims=1
       [columns=0] m0 = sum tm axis=-1 keepdims=1
       [masked!=none] h = eq m0 -inf
       [masked!=none] m = where h 0 m0
       [masked=none] m = copy m0
       x = sub tm m
       e = exp x
       z = sum e axis=-1 keepdims=1
       [masked!=none] zw = where h 1 z
       [masked=none] zw = copy z
       p = div e zw
       u = matmul p vh
       o = merge_heads u heads={heads}
       [lse] n = log z
       [lse] y = add n m
       [lse] lse = squeeze y axis=-1)");
constexpr auto kAttentionSecond = row_text(R"(
       qh = split_heads q heads={q.heads}
       kh = split_heads k heads={k.heads}
       vh = split_heads v heads={v.heads}
       gh = split_heads go heads={go.heads}
       ah = split_heads dgq heads={gq.heads}
       bh = split_heads dgk heads={gk.heads}
       ch = split_heads dgv heads={gv.heads}
       qs = mul qh {factor}
       s = matmul qs kh tb=1
       [causal=1 of_rows=all] i = arange i64[{q.-2}]
       [causal=1 of_rows=some] i = arange i64[{q.-2}] part={rows_part})",
                                           kMaskedScores, kWeightsOfLse, R"(
       gp = matmul gh vh tb=1
       pg = mul p gp
       n0 = sum pg axis=-1 keepdims=1)",
                                           kGradientOfScores, R"(
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
       dgo = merge_heads y2 heads={go.heads}
       z0 = matmul mw gh ta=1
       dv = merge_heads z0 heads={gv.heads}
       xc = matmul gh ch tb=1
       r0 = mul u w
       r1 = mul wn gp
       r2 = sub r0 r1
       r3 = add r2 xc
       pr = mul p r3
       rn = sum pr axis=-1 keepdims=1
       rc = sub r3 rn
       hs = mul p rc
       [masked=float] dmask = copy hs
       a0 = matmul hs kh
       a1 = matmul gs bh
       a2 = add a0 a1
       a3 = mul a2 {factor}
       dq = merge_heads a3 heads={gq.heads}
       b0 = matmul hs qh ta=1
       b1 = matmul gs ah ta=1
       b2 = add b0 b1
       b3 = mul b2 {factor}
       dk = merge_heads b3 heads={gk.heads})");
constexpr auto kAttentionGrad =
    row_text(R"(
       qh = split_heads q heads={heads}
       kh = split_heads k heads={heads}
       vh = split_heads v heads={heads}
       oh = split_heads o heads={heads}
       gh = split_heads go heads={heads})",
             kScoresOfRows, kMaskedScores, kWeightsOfLse, R"(
       y0 = matmul p gh ta=1
       gv = merge_heads y0 heads={heads}
       gp = matmul gh vh tb=1
       og = mul oh gh
       n0 = sum og axis=-1 keepdims=1)",
             kGradientOfScores, R"(
       w0 = matmul gs kh
       w1 = mul w0 {factor}
       gq = merge_heads w1 heads={heads}
       z0 = matmul gs qs ta=1
       gk = merge_heads z0 heads={heads})");

constexpr Row kAttentionRows[] = {
    // The gradient of the mask needs the scores of all rows and columns; it is
    // written only if something asks for it.
    {.signature = "o [lse] = attention q k v [mask] causal=0 enable_gqa=0 "
                  "[heads=] [scale=] [split=] [shape=] [part=]",
     .index = "...sd!,...t!d!,...t!d!,...->...sd,...s",
     .accepts = "float,float,float,any",
     .gradient = R"(
       [group=1] kr = copy k
       [group=1] vr = copy v
       [group!=1] kr = repeat_heads k size={group} heads={k.heads}
       [group!=1] vr = repeat_heads v size={group} heads={v.heads}
       [!lse] c l = attention q k v mask keys...
       [lse] c = copy o
       [lse] l = copy lse
       [dlse] e = copy dlse
       [!dlse bare=0] e0 = isfinite l
       [!dlse bare=0] e1 = cast e0 {wide}
       [!dlse bare=0] e = mul e1 0
       [dlse group=1] dq dk dv = attention_grad q k v c l do e mask keys...
       [!dlse bare=0 group=1] dq dk dv = attention_grad q k v c l do e mask keys...
       [!dlse bare=1 group=1] dq dk dv = attention_grad q k v c l do keys...
       [dlse group!=1] dq gk gv = attention_grad q kr vr c l do e mask keys...
       [!dlse bare=0 group!=1] dq gk gv = attention_grad q kr vr c l do e mask keys...
       [!dlse bare=1 group!=1] dq gk gv = attention_grad q kr vr c l do keys...
       [group!=1 heads k_lead=own] dk = fold_heads gk size={group} heads={kv_heads}
       [group!=1 heads k_lead=all] dk = fold_heads gk size={group} heads={k.heads}
       [group!=1 !heads] dk = fold_heads gk size={group}
       [group!=1 heads v_lead=own] dv = fold_heads gv size={group} heads={kv_heads}
       [group!=1 heads v_lead=all] dv = fold_heads gv size={group} heads={v.heads}
       [group!=1 !heads] dv = fold_heads gv size={group}
       [masked=float] qc = cast q {wide}
       [masked=float] kc = cast k {wide}
       [masked=float] vc = cast v {wide}
       [masked=float] oc = cast c {wide}
       [masked=float] gc = cast do {wide}
       [masked=float] qh = split_heads qc heads={q.heads}
       [masked=float] ks = split_heads kc heads={k.heads}
       [masked=float group=1] kh = copy ks
       [masked=float group!=1] kh = repeat_heads ks size={group}
       [masked=float] qs = mul qh {factor}
       [masked=float] s = matmul qs kh tb=1
       [masked=float causal=1 of_rows=all] i = arange i64[{q.-2}]
       [masked=float causal=1 of_rows=some] i = arange i64[{q.-2}] part={rows_part}
       [masked=float causal=1] j = arange i64[{columns}]
       [masked=float causal=1] r = unsqueeze i axis=-1
       [masked=float causal=1] f = le j r
       [masked=float causal=1] t = where f s -inf
       [masked=float causal=0] t = copy s
       [masked=float] tm = add t mask
       [masked=float] l0 = unsqueeze l axis=-1
       [masked=float] lh = eq l0 -inf
       [masked=float] lw = where lh inf l0
       [masked=float] x = sub tm lw
       [masked=float] p = exp x
       [masked=float] vs = split_heads vc heads={v.heads}
       [masked=float group=1] vh = copy vs
       [masked=float group!=1] vh = repeat_heads vs size={group}
       [masked=float] oh = split_heads oc heads={o.heads}
       [masked=float] gh = split_heads gc heads={o.heads}
       [masked=float] gp = matmul gh vh tb=1
       [masked=float] og = mul oh gh
       [masked=float] n0 = sum og axis=-1 keepdims=1
       [masked=float] el = unsqueeze e axis=-1
       [masked=float] n = sub n0 el
       [masked=float] u = sub gp n
       [masked=float] dmask = mul p u)",
     .expansion = kAttentionOfRows.data(),
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
                "block begins. mask broadcasts to the scores [...,s,t], with "
                "heads= [...,h,s,t]: of bool it says which columns a row sees, "
                "of q's dtype it is added to the scores; a row that sees none "
                "gives 0 and lse -inf. enable_gqa=1: k and v have fewer heads "
                "than q, a number that divides them, and neighbouring heads of "
                "q share one; heads are those of heads=, or the dimension "
                "before the rows. lse is the logarithm of each row's sum of "
                "exponentials, f32 (f64 of f64), [...,s] or with heads= "
                "[...,h,s]. f16 and bf16 are computed in f32. Of no columns, "
                "o is 0 and lse -inf. Errors: sizes or dtypes differ; heads "
                "that do not divide; a mask that does not broadcast.",
     .source = "torch.nn.functional.scaled_dot_product_attention; Vaswani et "
               "al., Attention is all you need, 2017; with heads= the core "
               "of torch.nn.MultiheadAttention",
     .example = "q = tensor f32[2,1] 1 1\n"
                "v = tensor f32[2,1] 2 6\n"
                "o = attention q q v causal=1\n"
                "print o\n"
                "=> o = tensor f32[2,1] 2 4",
     .factors = "0123"},
    // o and lse are what attention gave for q, k and v. They are not variables
    // of their own, so the gradients of q, k and v are the only ones.
    {.signature = "gq gk gv = attention_grad q k v o lse go [glse] [mask] "
                  "causal=0 [heads=] [scale=] [split=] [shape=] [part=]",
     .index = "...sd!,...t!d!,...t!d!,...sd!,...s,...sd!,...s,...->...sd,"
              "...td,...td",
     .linear = "56",
     .accepts = "float,float,float,float,float,float,float,any",
     .gradient = kAttentionSecond.data(),
     .non_differentiable = "o lse",
     .expansion = kAttentionGrad.data(),
     .in_f32 = true,
     .types = types_attention_grad,
     .labels = labels_attention,
     .placeholder = attention_word,
     .flops = 10,
     .sense = "Gradient of attention, from its results and their gradients.",
     .source = "Dao et al., FlashAttention, NeurIPS 2022, algorithm 4",
     .internal = true,
     .factors = "012357",
     .part_operand = 3},
    // heads=, split= and shape= are about the tensor with the heads in its last
    // dimension.
    {.signature = "y = split_heads x [heads=] [split=] [shape=]",
     .linear = "0",
     .gradient = "dx = merge_heads dy keys...",
     .expansion = R"(
       [heads] t = reshape x shape={parts}
       [heads] y = transpose t axes={order}
       [!heads] y = copy x)",
     .types = types_split_heads,
     .labels = labels_heads,
     .placeholder = heads_word,
     .flops = 0,
     .sense = "[...,s,h*d] as [...,h,s,d]; x itself without heads=.",
     .internal = true,
     .part_operand = 0},
    {.signature = "y = merge_heads x [heads=] [split=] [shape=]",
     .linear = "0",
     .gradient = "dx = split_heads dy keys...",
     .expansion = R"(
       [heads] t = transpose x axes={order}
       [heads] y = reshape t shape={y.shape}
       [!heads] y = copy x)",
     .types = types_merge_heads,
     .labels = labels_heads,
     .placeholder = heads_word,
     .flops = 0,
     .sense = "[...,h,s,d] as [...,s,h*d]; x itself without heads=.",
     .internal = true},
    // heads=, split= and shape= are about the tensor with fewer heads.
    {.signature = "y = repeat_heads x size= [heads=] [split=] [shape=]",
     .linear = "0",
     .accepts = "float",
     .gradient = "dx = fold_heads dy keys...",
     .expansion = R"(
       a = reshape x shape={apart}
       b = expand a shape={wide}
       y = reshape b shape={y.shape})",
     .types = types_repeat_heads,
     .labels = labels_repeat_heads,
     .placeholder = repeat_word,
     .flops = 0,
     .sense = "Each of heads= in the last dimension, or of the dimension "
              "before the rows, size= times.",
     .source = "torch.repeat_interleave",
     .internal = true,
     .part_operand = 0},
    {.signature = "y = fold_heads x size= [heads=] [split=] [shape=]",
     .linear = "0",
     .accepts = "float",
     .gradient = "dx = repeat_heads dy keys...",
     .expansion = R"(
       a = reshape x shape={wide}
       b = sum a axis={at}
       y = reshape b shape={y.shape})",
     .types = types_repeat_heads,
     .labels = labels_repeat_heads,
     .placeholder = repeat_word,
     .sense = "The sums of size= heads in turn: repeat_heads backwards.",
     .internal = true},
};

}  // namespace

constinit const Family kAttention{"attention", "Attention.", kAttentionRows};

}  // namespace gt
