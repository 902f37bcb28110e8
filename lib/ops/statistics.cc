// Mean, variance and norm over axes.
#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/index_rule.h"
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

Status types_norm(Call& call) {
  const double ord = call.number("ord");
  if (ord != 1 && ord != 2 && !(std::isinf(ord) && ord > 0)) {
    return Error{"key ord must be 1, 2 or inf, got " +
                 std::string(call.key("ord"))};
  }
  if (std::isinf(ord)) {
    if (Status s = need_elements(call); !s.ok()) return s;
  }
  return types_reduced(call);
}

// The placeholders of var. {dof}: what var divides by; {factor}: 2 / {dof}.
std::string var_word(const Call& call, std::string_view name, size_t each) {
  if (name != "dof" && name != "factor") {
    return reduction_word(call, name, each);
  }
  const auto count = parse_number(reduction_word(call, "count", each));
  const double dof = std::max(0.0, count->real - call.number("correction"));
  return number_text(name == "dof" ? dof : 2 / dof);
}

// The placeholder of norm. {ord}: 1, 2 or inf, however it is spelled.
std::string norm_word(const Call& call, std::string_view name, size_t each) {
  if (name == "ord") return number_text(call.number("ord"));
  return reduction_word(call, name, each);
}

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
     .expansion = R"(
       s = sum x axis={axis} keepdims={keepdims}
       y = div s {count})",
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
    {.signature = "y = var x [axis=] correction=1 keepdims=0",
     .index = kReduceIndex,
     .accepts = "float",
     .gradient = R"(
       m = mean x axis={axis} keepdims=1
       c = sub x m
       u = mul c {factor}
       [lift=1] t = unsqueeze dy axis={axes}
       [lift=1] dx = mul u t
       [lift=0] dx = mul u dy)",
     .expansion = R"(
       m = mean x axis={axis} keepdims=1
       c = sub x m
       q = mul c c
       s = sum q axis={axis} keepdims={keepdims}
       y = div s {dof})",
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
     .source = "torch.var; its sqrt is torch.std; Bessel's correction; with "
               "mean it is torch.var_mean, its root torch.std_mean",
     .places = "axis keepdims",
     .example = "x = tensor f32[4] 1 2 3 4\n"
                "y = var x correction=0\n"
                "print y\n"
                "=> y = tensor f32[] 1.25"},
    {.signature = "y = norm x [axis=] ord=2 keepdims=0",
     .index = kReduceIndex,
     .accepts = "float",
     // x / y is at most 1, whatever the size of both; where y is 0 it is taken
     // as 0.
     .gradient = R"(
       [ord=2] z = eq y 0
       [ord=2] n = where z inf y
       [ord=2 lift=1] l = unsqueeze n axis={axes}
       [ord=2 lift=0] l = copy n
       [ord=2] s = div x l
       [ord!=inf lift=1] u = unsqueeze dy axis={axes}
       [ord!=inf lift=0] u = copy dy
       [ord=inf] a = abs x
       [ord=inf] u = max_grad dy a y axis={axis} keepdims={keepdims}
       [ord!=2] s = sign x
       dx = mul s u)",
     .expansion = R"(
       [ord=2] q = mul x x
       [ord=2] s = sum q axis={axis} keepdims={keepdims}
       [ord=2] y = sqrt s
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
     .source = "torch.linalg.vector_norm; x over it is "
               "torch.nn.functional.normalize; of a difference it is "
               "torch.nn.functional.pairwise_distance, torch.cdist; products "
               "over norms are torch.nn.functional.cosine_similarity",
     .places = "ord axis keepdims",
     .example = "x = tensor f32[2] 3 4\n"
                "y = norm x\n"
                "print y\n"
                "=> y = tensor f32[] 5",
     .reduction = Reduction::kOther},
};

}  // namespace

constinit const Family kStatistics{
    "statistics", "Mean, variance and norm over axes.", kStatisticRows};

}  // namespace gt
