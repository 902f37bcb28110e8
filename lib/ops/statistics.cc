// Mean, variance and norm over axes.
#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/row_text.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

Status types_var(Call& call) {
  if (!std::isfinite(call.number("correction"))) {
    return Error{"key correction must be a finite number, got " +
                 std::string(call.key("correction"))};
  }
  return types_reduced(call);
}

Status types_part_mean(Call& call) {
  if (Status s = need_divisor(call); !s.ok()) return s;
  return types_reduced(call);
}

Status types_square_sum(Call& call) { return types_reduced(call, Dtype::kF64); }

Status check_ord(const Call& call) {
  const double ord = call.number("ord");
  if (ord != 1 && ord != 2 && !(std::isinf(ord) && ord > 0)) {
    return Error{"key ord must be 1, 2 or inf, got " +
                 std::string(call.key("ord"))};
  }
  return std::isinf(ord) ? need_elements(call) : ok_status();
}

Status types_norm(Call& call) {
  if (Status s = check_ord(call); !s.ok()) return s;
  return types_reduced(call);
}

Status types_normalize(Call& call) {
  if (Status s = check_ord(call); !s.ok()) return s;
  if (const auto axes = axis_list(call, 0); !axes.ok()) return axes.error();
  return types_as_first(call);
}

Status types_logsumexp(Call& call) {
  if (Status s = need_elements(call); !s.ok()) return s;
  return types_reduced(call);
}

Status types_logsumexp_grad(Call& call) {
  if (Status s = need_elements(call, 1); !s.ok()) return s;
  return types_reduced_grad(call);
}

// The placeholders of var, with n less correction= as its divisor. {some}: "1"
// unless that is 0; {root}: 1 over its root, or 1; {factor}: 2 over the
// divisor; {share}: half of it.
std::string var_word(const Call& call, std::string_view name, size_t each) {
  if (name != "some" && name != "root" && name != "factor" && name != "share") {
    return reduction_word(call, name, each);
  }
  const auto count = parse_number(reduction_word(call, "count", each));
  const double dof = std::max(0.0, count->real - call.number("correction"));
  if (name == "some") return dof > 0 ? "1" : "0";
  return number_text(name == "root"    ? dof > 0 ? 1 / std::sqrt(dof) : 1
                     : name == "share" ? 1 / dof
                                       : 2 / dof);
}

// The placeholders of norm and normalize. {ord}: 1, 2 or inf,
// however it is spelled; {half}: half_word(); {squares}: how a norm keeps them
// in range: "wide" if f64 holds them, "scaled" if not; {bound}: a power of two
// that a norm is at most, if no element is above 1; {share} {least}: 1 and eps=
// over that.
std::string norm_word(const Call& call, std::string_view name, size_t each) {
  if (name == "ord") return number_text(call.number("ord"));
  if (name == "half") return half_word(call, name, each);
  if (name == "squares") {
    return call.type(0).dtype == Dtype::kF64 ? "scaled" : "wide";
  }
  if (name == "bound" || name == "share" || name == "least") {
    const auto count = parse_number(reduction_word(call, "count", each));
    const double ord = call.number("ord");
    const int bits = std::ilogb(std::max(1.0, count->real)) + 1;
    const double bound =
        std::isinf(ord) ? 1 : std::ldexp(1, ord == 1 ? bits : (bits + 1) / 2);
    if (name == "bound") return std::to_string(static_cast<int64_t>(bound));
    return number_text((name == "share" ? 1 : call.number("eps")) / bound);
  }
  return reduction_word(call, name, each);
}

// Computes sd, the deviation, of elements of the size of e (kCentered). They
// are divided first, as their norm may leave the range where the deviation does
// not.
constexpr char kDeviation[] = R"(
       f = mul e {root}
       n = norm f axis={axis} keepdims={keepdims}
       [some=1] sd = copy n
       [some=0] sd = mul n inf)";
// Computes s, the deviation of x.
constexpr char kDeviationOfX[] = R"(
       [keepdims=0] k = squeeze mh axis={axes}
       [keepdims=1] k = copy mh
       s = div sd k)";

// Computes d: x less the largest m, of which no exponential is beyond the
// range. What is infinite is 0 less than itself.
constexpr char kExponents[] = R"(
       m = max x axis={axis} keepdims=1
       q = eq x m
       c = sub x m
       d = where q 0 c)";
constexpr auto kLogSumExp = row_text(kExponents, R"(
       o = exp_others d axis={axis} keepdims={keepdims}
       l = log1p o
       [keepdims=0] k = squeeze m axis={axes}
       [keepdims=1] k = copy m
       y = add k l)");
constexpr auto kLogSumExpGrad = row_text(kExponents, R"(
       e = exp d
       s = sum e axis={axis} keepdims=1
       p = div e s
       f = eq m -inf
       u = where f 0 p
       [lift=1] h = unsqueeze g axis={axes}
       [lift=0] h = copy g
       z = mul h u)");

constexpr auto kVar = row_text(kCentered, kDeviation, kDeviationOfX, R"(
       y = mul s s)");
constexpr auto kVarGrad = row_text(kCentered, R"(
       u = mul e {factor}
       [lift=1] t = unsqueeze g axis={axes}
       [lift=0] t = copy g
       v = mul u t
       z = div v mh)");
constexpr auto kVarGradSecond = row_text(kCentered, R"(
       a = mul e {factor}
       u = div a mh
       p = mul dz u
       dg = sum p axis={axis} keepdims={keepdims}
       [lift=1] t = unsqueeze g axis={axes}
       [lift=0] t = copy g
       q = mul dz t
       o = mean q axis={axis} keepdims=1
       v = sub q o
       dx = mul v {factor})");

constexpr auto kStd = row_text(kCentered, kDeviation, kDeviationOfX, R"(
       y = copy s)");
// Computes k, the deviation over the elements, v, the gradient of each element
// for a gradient of 1, and t, g over the elements. A deviation of 0 is taken as
// inf, so that v is 0.
constexpr char kStdShare[] = R"(
       a = eq sd 0
       b = where a inf sd
       [lift=1] k = unsqueeze b axis={axes}
       [lift=0] k = copy b
       u = mul e {share}
       v = div u k
       [lift=1] t = unsqueeze g axis={axes}
       [lift=0] t = copy g)";
constexpr auto kStdGrad = row_text(kCentered, kDeviation, kStdShare, R"(
       z = mul v t)");
constexpr auto kStdGradSecond = row_text(kCentered, kDeviation, kStdShare, R"(
       p = mul dz v
       dg = sum p axis={axis} keepdims={keepdims}
       o = mean dz axis={axis} keepdims=1
       q = sub dz o
       r = mul q {share}
       s = sum p axis={axis} keepdims=1
       w = mul v s
       h = sub r w
       j = div h k
       i = mul j mh
       dx = mul i t)");

constexpr Row kStatisticRows[] = {
    {.signature = "y = mean x [axis=] keepdims=0",
     .index = kReduceIndex,
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       s = div dy {count}
       [lift=1] t = unsqueeze s axis={axes}
       [lift=1] dx = expand t shape={x.shape}
       [lift=0] dx = expand s shape={x.shape})",
     .expansion = "y = part_mean x divisor={count} axis={axis} "
                  "keepdims={keepdims}",
     .in_f32 = true,
     .types = types_reduced,
     .labels = labels_kept,
     .placeholder = reduction_word,
     .sense = "Mean over axes.",
     .details = "Axes as sum. f16 and bf16 are summed and divided in f32. Of "
                "nothing, nan. Errors: x does not hold floats.",
     .source = "torch.mean; numpy.average; with var over axis=0, "
               "torch.nn.functional.batch_norm; of images over axis=2,3, "
               "torch.nn.functional.adaptive_avg_pool2d to size 1",
     .places = "axis keepdims",
     .example = "x = tensor f32[2,2] 1 2 3 4\n"
                "y = mean x axis=-1\n"
                "print y\n"
                "=> y = tensor f32[2] 1.5 3.5",
     .reduction = Reduction::kMean},
    // Ranks that divide the elements of a mean each have one, of which the sum
    // is the mean. None is larger than the largest element, so that the sum
    // does not leave the range on the way.
    {.signature = "y = part_mean x divisor= [axis=] keepdims=0",
     .index = kReduceIndex,
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       s = div dy {divisor}
       [lift=1] t = unsqueeze s axis={axes}
       [lift=1] dx = expand t shape={x.shape}
       [lift=0] dx = expand s shape={x.shape})",
     .expansion = R"(
       s = sum x axis={axis} keepdims={keepdims}
       y = div s {divisor})",
     .in_f32 = true,
     .types = types_part_mean,
     .labels = labels_summed,
     .placeholder = reduction_word,
     .sense = "The sum over axes, divided by divisor= before it is rounded: "
              "what some elements add to the mean of more.",
     .source = "torch.nn.functional.avg_pool2d's divisor_override",
     .internal = true,
     .reduction = Reduction::kMean},
    {.signature = "y = var x [axis=] correction=1 keepdims=0",
     .index = kReduceIndex,
     .accepts = "float",
     .gradient = "dx = var_grad dy x axis={axis} correction={correction} "
                 "keepdims={keepdims}",
     .expansion = kVar.data(),
     .in_f32 = true,
     .types = types_var,
     .labels = labels_kept,
     .placeholder = var_word,
     .flops = 4,
     .sense = "Variance over axes.",
     .details =
         "Axes as sum. The squares' sum is divided by n - correction, or "
         "by 0 where correction is larger than n: that gives inf, and "
         "nan where the sum is 0, as of a single element. correction= "
         "may be a fraction: 1.5 makes the root's bias smaller. f16 and "
         "bf16 are computed in f32. Errors: x does not hold floats; "
         "correction is nan or infinite.",
     .source = "torch.var; Bessel's correction; with mean it is "
               "torch.var_mean",
     .places = "axis keepdims",
     .example = "x = tensor f32[4] 1 2 3 4\n"
                "y = var x correction=0\n"
                "print y\n"
                "=> y = tensor f32[] 1.25"},
    {.signature = "z = var_grad g x [axis=] correction=1 keepdims=0",
     .index = "...,...r->...r",
     .linear = "0",
     .accepts = "float",
     .gradient = kVarGradSecond.data(),
     .expansion = kVarGrad.data(),
     .in_f32 = true,
     .types = types_reduced_grad,
     .labels = labels_kept,
     .placeholder = var_word,
     .flops = 6,
     .sense = "Gradient of var: g 2 (x - mean x) / (n - correction).",
     .source = "The chain rule",
     .internal = true},
    {.signature = "y = std x [axis=] correction=1 keepdims=0",
     .index = kReduceIndex,
     .accepts = "float",
     .gradient = "dx = std_grad dy x axis={axis} correction={correction} "
                 "keepdims={keepdims}",
     .expansion = kStd.data(),
     .in_f32 = true,
     .types = types_var,
     .labels = labels_kept,
     .placeholder = var_word,
     .flops = 4,
     .sense = "Standard deviation over axes, the root of var.",
     .details =
         "As var, but a number wherever the deviation is one, though "
         "its square overflow or vanish. The gradient at 0 is 0. Errors: "
         "x does not hold floats; correction is nan or infinite.",
     .source = "torch.std; with mean it is torch.std_mean",
     .places = "axis keepdims",
     .example = "x = tensor f32[5] -1e30 -1e30 0 1e30 1e30\n"
                "y = std x\n"
                "print y\n"
                "=> y = tensor f32[] 1e+30"},
    {.signature = "z = std_grad g x [axis=] correction=1 keepdims=0",
     .index = "...,...r->...r",
     .linear = "0",
     .accepts = "float",
     .gradient = kStdGradSecond.data(),
     .expansion = kStdGrad.data(),
     .in_f32 = true,
     .types = types_reduced_grad,
     .labels = labels_kept,
     .placeholder = var_word,
     .flops = 8,
     .sense =
         "Gradient of std: g (x - mean x) / (y (n - correction)), 0 where y "
         "is 0.",
     .source = "The chain rule",
     .internal = true},
    {.signature = "y = square_sum x [axis=] keepdims=0",
     .index = kReduceIndex,
     .accepts = "float",
     .gradient = R"(
       t = mul x 2
       [lift=1] u = unsqueeze dy axis={axes}
       [lift=0] u = copy dy
       v = mul t u
       dx = cast v {x.dtype})",
     .expansion = R"(
       c = cast x f64
       q = mul c c
       y = sum q axis={axis} keepdims={keepdims})",
     .types = types_square_sum,
     .labels = labels_summed,
     .placeholder = reduction_word,
     .flops = 2,
     .sense =
         "The sum of squares in f64, which has room for those of all other "
         "dtypes.",
     .source = "The square of torch.linalg.vector_norm",
     .internal = true},
    {.signature = "y = norm x [axis=] ord=2 keepdims=0",
     .index = kReduceIndex,
     .accepts = "float",
     // x / y is at most 1, whatever the size of both; where y is 0 it is taken
     // as 0. y of f16 or bf16 is computed again, as it may be too large for
     // them.
     .gradient = R"(
       [ord=2 half=1] w = cast x f32
       [ord=2 half=1] v = norm w axis={axis} keepdims={keepdims}
       [ord=2 half=0] w = copy x
       [ord=2 half=0] v = copy y
       [ord=2] z = eq v 0
       [ord=2] n = where z inf v
       [ord=2 lift=1] l = unsqueeze n axis={axes}
       [ord=2 lift=0] l = copy n
       [ord=2] s = div w l
       [ord!=inf lift=1] u = unsqueeze dy axis={axes}
       [ord!=inf lift=0] u = copy dy
       [ord=inf] a = abs x
       [ord=inf] u = max_grad dy a y axis={axis} keepdims={keepdims}
       [ord!=2] s = sign x
       [half=0] dx = mul s u
       [half=1] t = mul s u
       [half=1] dx = cast t {x.dtype})",
     .expansion = R"(
       [ord=2] y = part_norm x divisor=1 axis={axis} keepdims={keepdims}
       [ord!=2] a = abs x
       [ord=1] y = sum a axis={axis} keepdims={keepdims}
       [ord=inf] y = max a axis={axis} keepdims={keepdims})",
     .in_f32 = true,
     .types = types_norm,
     .labels = labels_kept,
     .placeholder = norm_word,
     .flops = 2,
     .sense = "Norm of x as one vector, or of vectors along axes.",
     .details = "ord=2 is the root of the sum of squares, ord=1 the sum and "
                "ord=inf the largest of absolute values. Axes as sum. The "
                "gradient at 0 is 0. Errors: x does not hold floats; ord=inf "
                "of nothing; another ord.",
     .source = "torch.linalg.vector_norm; of a difference it is "
               "torch.nn.functional.pairwise_distance, torch.cdist; products "
               "over norms are torch.nn.functional.cosine_similarity",
     .places = "ord axis keepdims",
     .example = "x = tensor f32[2] 3 4\n"
                "y = norm x\n"
                "print y\n"
                "=> y = tensor f32[] 5",
     .reduction = Reduction::kOther},
    // Squares of f64 leave its range, so x is divided by the sum of its sizes.
    {.signature = "y = part_norm x divisor= [axis=] keepdims=0",
     .index = kReduceIndex,
     .accepts = "float",
     .gradient = R"(
       z = eq y 0
       n = where z inf y
       [lift=1] l = unsqueeze n axis={axes}
       [lift=0] l = copy n
       s = div x l
       [lift=1] u = unsqueeze dy axis={axes}
       [lift=0] u = copy dy
       t = mul s u
       k = div t {divisor}
       dx = div k {divisor})",
     .expansion = R"(
       [squares=wide] s = square_sum x axis={axis} keepdims={keepdims}
       [squares=wide] r = sqrt s
       [squares=wide] q = div r {divisor}
       [squares=wide] y = cast q f32
       [squares=scaled] b = abs x
       [squares=scaled] t = sum b axis={axis} keepdims={keepdims}
       [squares=scaled] k = clamp t 2.2250738585072014e-308 1.7976931348623157e308
       [squares=scaled lift=1] l = unsqueeze k axis={axes}
       [squares=scaled lift=0] l = copy k
       [squares=scaled] c = div x l
       [squares=scaled] q = mul c c
       [squares=scaled] s = sum q axis={axis} keepdims={keepdims}
       [squares=scaled] r = sqrt s
       [squares=scaled] d = div r {divisor}
       [squares=scaled] y = mul d k)",
     .in_f32 = true,
     .types = types_part_mean,
     .labels = labels_kept,
     .placeholder = norm_word,
     .flops = 2,
     .sense = "The norm of x, divided by divisor= before it is rounded.",
     .internal = true,
     .reduction = Reduction::kOther},
    {.signature = "y = normalize x axis=-1 ord=2 eps=1e-12",
     .index = "...r!->...r",
     .accepts = "float",
     // With m the norm, but at least eps: the gradient of x / m, and beyond eps
     // that of m.
     .gradient = R"(
       [half=1] w = cast x f32
       [half=0] w = copy x
       n = norm w axis={axis} ord={ord} keepdims=1
       m = maximum n {eps}
       v = div w m
       a = div dy m
       t = mul a v
       s = sum t axis={axis} keepdims=1
       c = gt n {eps}
       u = where c s 0
       [ord=2] b = mul v u
       [ord!=2] g = sign w
       [ord=1] b = mul g u
       [ord=inf] k = abs w
       [ord=inf] h = max_grad u k n axis={axis} keepdims=1
       [ord=inf] b = mul g h
       dx = sub a b)",
     // The norm may be out of range where x over it is not.
     .expansion = R"(
       [ord=1] b = abs x
       [ord=1] n = part_mean b divisor={bound} axis={axis} keepdims=1
       [ord=2] n = part_norm x divisor={bound} axis={axis} keepdims=1
       [ord=inf] n = norm x axis={axis} ord=inf keepdims=1
       m = maximum n {least}
       [ord=inf] y = div x m
       [ord!=inf] y = ratio x m {share})",
     .in_f32 = true,
     .types = types_normalize,
     .labels = labels_along_axis,
     .placeholder = norm_word,
     .flops = 4,
     .sense = "x over its norm along axes, which counts as eps where it is "
              "less.",
     .details = "So zeros stay zeros. ord= as norm. f16 and bf16 are computed "
                "in f32. Errors: an axis that is not there; integers; ord=inf "
                "of nothing; another ord.",
     .source = "torch.nn.functional.normalize",
     .example = "x = tensor f32[2,2] 3 4 0 0\n"
                "y = normalize x\n"
                "print y\n"
                "=> y = tensor f32[2,2] 0.6 0.8 0 0"},
    {.signature = "y = logsumexp x [axis=] keepdims=0",
     .index = kReduceIndex,
     .accepts = "float",
     .gradient = "dx = logsumexp_grad dy x axis={axis} keepdims={keepdims}",
     .expansion = kLogSumExp.data(),
     .in_f32 = true,
     .types = types_logsumexp,
     .labels = labels_kept,
     .placeholder = reduction_word,
     .flops = 12,
     .sense = "The logarithm of the sum of exponentials, over axes.",
     .details = "Axes as sum. -inf if all are -inf, and then the gradient is "
                "0. f16 and bf16 are computed in f32. Errors: nothing to sum; "
                "integers.",
     .source = "torch.logsumexp",
     .places = "axis keepdims",
     .example = "x = tensor f32[2,2] 1000 0 -inf -inf\n"
                "y = logsumexp x axis=1\n"
                "print y\n"
                "=> y = tensor f32[2] 1000 -inf",
     .reduction = Reduction::kOther},
    // With u the gradient for a g of 1, the softmax of x.
    {.signature = "z = logsumexp_grad g x [axis=] keepdims=0",
     .index = "...,...r->...r",
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       o = ones {g.type}
       u = logsumexp_grad o x axis={axis} keepdims={keepdims}
       p = mul dz u
       dg = sum p axis={axis} keepdims={keepdims}
       s = sum p axis={axis} keepdims=1
       q = sub dz s
       r = mul u q
       [lift=1] t = unsqueeze g axis={axes}
       [lift=0] t = copy g
       dx = mul r t)",
     .expansion = kLogSumExpGrad.data(),
     .in_f32 = true,
     .types = types_logsumexp_grad,
     .labels = labels_kept,
     .placeholder = reduction_word,
     .flops = 14,
     .sense = "Gradient of logsumexp: g times the softmax of x, 0 where all "
              "are -inf.",
     .source = "PyTorch's logsumexp_backward",
     .internal = true},
};

}  // namespace

constinit const Family kStatistics{
    "statistics", "Mean, variance and norm over axes.", kStatisticRows};

}  // namespace gt
