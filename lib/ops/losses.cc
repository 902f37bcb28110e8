// Losses: how far a model's output is from what it should be.
#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/index_rule.h"
#include "ops/loss_texts.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

// Adds the result type: a loss for each element, or one for all.
void reduce_losses(Call& call, Dtype dtype, const Shape& each) {
  const bool none = call.key("reduction") == "none";
  call.results.push_back({dtype, none ? each : Shape{}});
}

// Checks that logits are [...,c] and classes [...].
Status check_classes(const Call& call, size_t x, size_t target) {
  const Shape& logits = call.type(x).shape;
  const Shape& classes = call.type(target).shape;
  if (logits.empty()) {
    return Error{call.describe(x) + " must have at least 1 dimension"};
  }
  const Shape rows =
      reduced_shape(logits, {static_cast<int64_t>(logits.size()) - 1}, false);
  if (rows == classes) return ok_status();
  const std::string what = call.describe(x) + " and " + call.describe(target);
  const bool has_column = classes.size() == rows.size() + 1 &&
                          (classes.back() == 1 || classes == logits);
  if (!has_column) {
    return Error{what +
                 ": the logits need the classes' dimensions and one more for "
                 "the classes"};
  }
  return Error{what + ": the target must be class numbers of shape [" +
               to_string(rows) + "]; " +
               (classes.back() == 1 && logits.back() != 1
                    ? "squeeze axis=-1 drops the last dimension"
                    : "argmax axis=-1 makes them of a row for each class")};
}

// Checks that the weight has a factor for each class.
Status check_weight(const Call& call, size_t x, size_t weight) {
  if (!call.given(weight)) return ok_status();
  const Shape wanted{call.type(x).shape.back()};
  return need(call.type(weight).shape == wanted,
              call.describe(weight) +
                  " must have one dimension, a factor for each of the " +
                  to_string(wanted) + " classes of " + call.describe(x));
}

Status types_cross_entropy(Call& call) {
  if (Status s = check_classes(call, 0, 1); !s.ok()) return s;
  if (Status s = check_weight(call, 0, 2); !s.ok()) return s;
  const double smoothing = call.number("label_smoothing");
  if (!(smoothing >= 0 && smoothing <= 1)) {
    return Error{"label_smoothing= must be from 0 to 1"};
  }
  reduce_losses(call, call.type(0).dtype, call.type(1).shape);
  return widen_result(call);
}

// g has the logits' dtype, or the dtype in which they are computed.
Status types_cross_entropy_grad(Call& call) {
  if (Status s = check_classes(call, 1, 2); !s.ok()) return s;
  const bool none = call.key("reduction") == "none";
  const Dtype dtype = call.type(1).dtype;
  const Dtype g = call.type(0).dtype;
  const Type wanted{g == wide_dtype(dtype) ? g : dtype,
                    none ? call.type(2).shape : Shape{}};
  call.results.push_back(call.type(1));
  return need(call.type(0) == wanted,
              call.describe(0) + " must have the type " + to_string(wanted));
}

Status types_elementwise_loss(Call& call) {
  const bool number = call.arguments[1].literal;
  if (!number && !(call.type(0).shape == call.type(1).shape)) {
    return Error{call.describe(0) + " and " + call.describe(1) +
                 " must have one shape"};
  }
  const Dtype dtype = promote(call.arguments);
  if (!is_float(dtype)) return Error{call.describe(0) + " must hold floats"};
  reduce_losses(call, dtype, call.type(0).shape);
  return need_divisor(call);
}

Status types_huber(Call& call) {
  const double delta = call.number("delta");
  if (!(delta > 0)) return Error{"delta= must be above 0"};
  return types_elementwise_loss(call);
}

// The placeholders that a cross entropy needs for weights, ignored classes or
// smoothing. {plain}: 0 if there are any of these, else 1; {smooth}: 1 if
// labels are smoothed; {own} {shared}: the negative shares of a row's total of
// 1 that the target's class gets in addition, and that each class gets;
// {evenly}: that of all classes together; {target.rows} {x.wide}: types in the
// dtype {wide}; {counted}: what a mean divides by: "number" if each row counts
// 1 or there is none, "flags" if some do not count, "weights" if they have
// factors; "each" if there is no mean.
std::string weighted_word(const Call& call, std::string_view name) {
  const double smoothing = call.number("label_smoothing");
  const bool ignores = call.has_key("ignore_index");
  const bool weighs = call.given(2);
  const Type& x = call.type(0);
  const Dtype wide = wide_dtype(x.dtype);
  if (name == "plain") return ignores || weighs || smoothing != 0 ? "0" : "1";
  if (name == "smooth") return smoothing != 0 ? "1" : "0";
  if (name == "own") return number_text(smoothing - 1);
  if (name == "shared") {
    return number_text(-smoothing / static_cast<double>(x.shape.back()));
  }
  if (name == "evenly") return number_text(-smoothing);
  if (name == "target.rows") return to_string(Type{wide, call.type(1).shape});
  if (name == "x.wide") return to_string(Type{wide, x.shape});
  if (name == "counted") {
    if (call.key("reduction") != "mean") return "each";
    if (call.type(1).elements() == 0) return "number";
    return weighs ? "weights" : ignores ? "flags" : "number";
  }
  return "";
}

// The placeholders of parts of means. {factor}: as of a loss; {room}: "f64" if
// that has room for all products, else "less": then each factor of a product is
// multiplied by {less}, and the mean by {more}.
std::string part_word(const Call& call, std::string_view name) {
  const double divisor = std::max(1.0, call.number("divisor"));
  const int bits = std::ilogb(divisor) / 2 + 1;
  if (name == "apart") return "1";
  if (name == "mean_of") return std::string(call.key("divisor"));
  if (name == "factor") return number_text(2 / divisor);
  if (name == "room") {
    return call.type(0).dtype == Dtype::kF64 ? "less" : "f64";
  }
  if (name == "less") return number_text(std::ldexp(1, -bits));
  return name == "more" ? number_text(std::ldexp(1, 2 * bits)) : "";
}

// The placeholders of losses. {count}: the number of losses; {classes}: that of
// classes; {picks}: the shape of one element for each row; {apart}: 1 if the
// loss of each element is wanted; {mean_of}: of how many losses a mean is
// taken, or "none"; {factor}: what a square's derivative is multiplied by;
// {below}: -delta=, for huber; {wide}: the dtype that losses are computed in;
// {narrow}: that of the logits if it is another, else "same".
std::string loss_word(const Call& call, std::string_view name, size_t) {
  const auto& [dtype, x] = call.type(operand_named(call, "x"));
  if (call.op->name == "cross_entropy") {
    if (std::string text = weighted_word(call, name); !text.empty())
      return text;
  }
  if (name == "wide") return std::string(to_string(wide_dtype(dtype)));
  if (name == "narrow") {
    return std::string(is_half(dtype) ? to_string(dtype) : "same");
  }
  const bool classes = call.op->name.starts_with("cross_entropy");
  int64_t count = x.elements();
  if (classes) {
    count = call.type(operand_named(call, "target")).elements();
  }
  if (name == "count") return std::to_string(count);
  if (name == "classes") return std::to_string(x.back());
  if (name == "picks") {
    Shape picks = x;
    picks[picks.size() - 1] = 1;
    return list_text(picks);
  }
  if (name == "below") return number_text(-call.number("delta"));
  if (call.has_key("divisor")) return part_word(call, name);
  const bool mean = call.key("reduction") == "mean";
  if (name == "apart") return mean ? "0" : "1";
  if (name == "mean_of") return mean ? std::to_string(count) : "none";
  if (name != "factor") return "";
  return number_text(mean ? 2 / static_cast<double>(count) : 2);
}

// Returns a label for each dimension of rows. Over all rows a sum of losses is
// a sum; a mean is not, so it has no labels.
std::vector<Label> labels_loss(const Call& call) {
  const Shape& rows = call.type(1).shape;
  const std::string_view reduction =
      call.has_key("divisor") ? "sum" : call.key("reduction");
  std::vector<Label> labels;
  for (size_t d = 0; d < call.type(0).shape.size(); ++d) {
    const bool is_class = call.op->name == "cross_entropy" && d >= rows.size();
    if (is_class || reduction == "mean") continue;
    Label label(call, call.type(0).shape[d]);
    label.is_summed = reduction == "sum";
    label.arguments[0].dim = static_cast<int32_t>(d);
    if (!call.arguments[1].literal) label.arguments[1] = label.arguments[0];
    if (!label.is_summed) label.results[0] = label.arguments[0];
    labels.push_back(std::move(label));
  }
  return labels;
}

std::vector<Label> labels_loss_grad(const Call& call) {
  std::vector<Label> labels;
  if (call.key("reduction") == "mean") return labels;
  for (size_t d = 0; d < call.type(2).shape.size(); ++d) {
    Label label(call, call.type(2).shape[d]);
    label.arguments[1].dim = static_cast<int32_t>(d);
    label.arguments[2] = label.results[0] = label.arguments[1];
    if (!call.type(0).shape.empty()) label.arguments[0] = label.arguments[1];
    labels.push_back(std::move(label));
  }
  return labels;
}
constexpr Row kLossRows[] = {
    {.signature = "y = cross_entropy x target [weight] reduction=mean "
                  "[ignore_index=] label_smoothing=0 [out=]",
     .index = "...c!,...,c!->",
     .dtype = "first",
     .accepts = "float,int,float",
     .gradient = loss_texts::kCrossEntropyGradient.data(),
     .expansion = loss_texts::kCrossEntropy.data(),
     .in_f32 = true,
     .types = types_cross_entropy,
     .labels = labels_loss,
     .placeholder = loss_word,
     .flops = 14,
     .sense = "The negative logarithm of the probability that logits x give "
              "to the classes.",
     .details =
         "x [...,c] of floats, target [...] of integers from 0 to c - "
         "1; the result is the mean, the sum, or with reduction=none "
         "[...]. weight [c] has a factor for each class, by which the "
         "mean is weighted, too. A row whose class is ignore_index= "
         "costs nothing and does not count in the mean, which is nan "
         "of no rows (absent, none is ignored; PyTorch ignores -100). "
         "label_smoothing=s: the class is to get 1 - s, and all "
         "classes share s. f16 and bf16 are computed in f32, and "
         "with out=f32 not rounded back. weight has no gradient. Errors: "
         "shapes differ; a class below 0 or beyond c fails when it is "
         "met; another out=.",
     .source = "torch.nn.functional.cross_entropy, with classes last; of log "
               "probabilities it is torch.nn.functional.nll_loss; "
               "torch.nn.CrossEntropyLoss",
     .example = "x = tensor f32[2,1] 5 7\n"
                "t = tensor i64[2] 0 0\n"
                "y = cross_entropy x t\n"
                "print y\n"
                "=> y = tensor f32[] 0"},
    {.signature = "z = cross_entropy_grad g x target reduction=mean",
     .index = ",...c!,...->...c",
     .linear = "0",
     .accepts = "float,float,int",
     .gradient = R"(
       [narrow=same] cx = copy x
       [narrow!=same] cx = cast x {wide}
       [narrow=same] cz = copy dz
       [narrow!=same] cz = cast dz {wide}
       [narrow=same] cg = copy g
       [narrow!=same] cg = cast g {wide}
       p = softmax cx
       t = unsqueeze target axis=-1
       r = arange i64[{classes}]
       o = eq r t
       c = cast o {wide}
       q = sub p c
       u = mul cz q
       [reduction=none] v = sum u axis=-1
       [reduction!=none] v = sum u
       [reduction=mean] h = div v {count}
       [reduction!=mean] h = copy v
       [narrow=same] dg = copy h
       [narrow!=same] dg = cast h {g.dtype}
       [reduction=none] s = unsqueeze cg axis=-1
       [reduction=sum] s = copy cg
       [reduction=mean] s = div cg {count}
       w = mul cz s
       d = softmax_grad w p
       [narrow=same] dx = copy d
       [narrow!=same] dx = cast d {narrow})",
     .expansion = R"(
       [reduction=mean] a = div g {count}
       [reduction=mean] z = cross_entropy_grad a x target reduction=sum
       [reduction!=mean] p = softmax x
       [reduction!=mean] t = unsqueeze target axis=-1
       [reduction!=mean] o = full {x.dtype}[{picks}] -1
       [reduction!=mean] q = scatter_add p t o axis=-1
       [reduction=none] s = unsqueeze g axis=-1
       [reduction=sum] s = copy g
       [reduction!=mean] z = mul q s)",
     .in_f32 = true,
     .types = types_cross_entropy_grad,
     .labels = labels_loss_grad,
     .placeholder = loss_word,
     .flops = 14,
     .sense = "Gradient of cross_entropy: (softmax x - one-hot target) g.",
     .source = "Bridle, Probabilistic interpretation of feedforward "
               "classification network outputs, 1990",
     .internal = true},
    {.signature = "y = mse x target reduction=mean",
     .index = "...,...->",
     .accepts = "float",
     .gradient = loss_texts::kMseGradient,
     .expansion = loss_texts::kMse.data(),
     .in_f32 = true,
     .types = types_elementwise_loss,
     .labels = labels_loss,
     .placeholder = loss_word,
     .flops = 3,
     .sense = "The square of the difference.",
     .details = "The mean, the sum, or with reduction=none each. target has "
                "x's shape, or is a number. Errors: shapes differ (PyTorch "
                "only warns); integers.",
     .source = "torch.nn.functional.mse_loss; torch.nn.MSELoss",
     .example = "x = tensor f32[2] 1 2\n"
                "t = tensor f32[2] 1 4\n"
                "y = mse x t\n"
                "print y\n"
                "=> y = tensor f32[] 2"},
    {.signature = "y = part_mse x target divisor=",
     .index = "...,...->",
     .accepts = "float",
     .gradient = loss_texts::kMseGradient,
     .expansion = loss_texts::kPartMse.data(),
     .in_f32 = true,
     .types = types_elementwise_loss,
     .labels = labels_loss,
     .placeholder = loss_word,
     .flops = 3,
     .sense = "What some elements add to the mse of more, of which there are "
              "divisor=.",
     .internal = true},
    {.signature = "y = huber x target delta=1 reduction=mean",
     .index = "...,...->",
     .accepts = "float",
     .gradient = loss_texts::kHuberGradient,
     .expansion = loss_texts::kHuber.data(),
     .in_f32 = true,
     .types = types_huber,
     .labels = labels_loss,
     .placeholder = loss_word,
     .flops = 6,
     .sense = "Half the square of the difference; beyond delta, linear in it.",
     .details = "With d the difference's size: d d / 2 up to delta=, delta (d "
                "- delta / 2) from there. The mean, the sum, or with "
                "reduction=none each. target has x's shape, or is a number. "
                "Errors: shapes differ; delta= is not above 0; integers.",
     .source = "torch.nn.functional.huber_loss; divided by delta=, "
               "torch.nn.functional.smooth_l1_loss with beta=delta; "
               "torch.nn.HuberLoss; divided by delta=, torch.nn.SmoothL1Loss "
               "with beta=delta; Huber, Robust estimation of a location "
               "parameter, 1964",
     .places = "reduction delta",
     .example = "x = tensor f32[2] 1 2\n"
                "t = tensor f32[2] 1.5 5\n"
                "y = huber x t reduction=none\n"
                "print y\n"
                "=> y = tensor f32[2] 0.125 2.5"},
    {.signature = "y = part_huber x target divisor= delta=1",
     .index = "...,...->",
     .accepts = "float",
     .gradient = loss_texts::kHuberGradient,
     .expansion = loss_texts::kPartHuber.data(),
     .in_f32 = true,
     .types = types_huber,
     .labels = labels_loss,
     .placeholder = loss_word,
     .flops = 6,
     .sense = "What some elements add to the huber of more, of which there are "
              "divisor=.",
     .internal = true},
    {.signature = "y = bce x target reduction=mean",
     .index = "...,...->",
     .accepts = "float",
     .gradient = R"(
       [reduction=mean] s = div dy {count}
       [reduction!=mean] s = copy dy
       dx = bce_grad s x target
       dtarget = bce_target_grad s x)",
     .expansion = loss_texts::kBce.data(),
     .in_f32 = true,
     .types = types_elementwise_loss,
     .labels = labels_loss,
     .placeholder = loss_word,
     .flops = 24,
     .sense = "Binary cross entropy of probabilities x.",
     .details = "-(target log x + (1 - target) log(1 - x)), logarithms at "
                "least -100; the mean, the sum, or with reduction=none each. "
                "target has x's shape, or is a number. Errors: shapes differ; "
                "integers.",
     .source = "torch.nn.functional.binary_cross_entropy; torch.nn.BCELoss; "
               "of sigmoid x it is "
               "torch.nn.functional.binary_cross_entropy_with_logits",
     .example = "x = tensor f32[2] 0 1\n"
                "t = tensor f32[2] 0 1\n"
                "y = bce x t\n"
                "print y\n"
                "=> y = tensor f32[] 0"},
    {.signature = "z = bce_grad g x target",
     .index = "...,...,...->...",
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = bce_grad dz x target
       o = sub 1 x
       v = mul o x
       w = maximum v 1e-12
       h = mul dz g
       k = div h w
       dtarget = neg k
       r = bce_grad 1 x target
       t = mul x 2
       u = sub 1 t
       b = gt v 1e-12
       c = where b u 0
       p = mul r c
       q = sub 1 p
       dx = mul k q)",
     .expansion = R"(
       t = sub x target
       o = sub 1 x
       v = mul o x
       w = maximum v 1e-12
       u = div t w
       z = mul u g)",
     .in_f32 = true,
     .flops = 6,
     .sense = "Gradient of bce by x: g (x - target) / (x (1 - x)), the divisor "
              "at least 1e-12.",
     .source = "PyTorch's binary_cross_entropy_backward",
     .internal = true},
    {.signature = "z = bce_target_grad g x",
     .index = kTwoIndex,
     .linear = "0",
     .accepts = "float",
     .gradient = R"(
       dg = bce_target_grad dz x
       o = sub 1 x
       v = mul o x
       h = mul dz g
       k = div h v
       n = neg k
       c = bce_target_grad 1 x
       a = abs c
       b = lt a 100
       dx = where b n 0)",
     .expansion = R"(
       o = sub 1 x
       q = div x o
       l = log q
       c = clamp l -100 100
       n = neg g
       z = mul c n)",
     .in_f32 = true,
     .flops = 14,
     .sense = "Gradient of bce by target: -g log(x / (1 - x)), the logarithm "
              "from -100 to 100.",
     .source = "PyTorch's derivatives of binary_cross_entropy",
     .internal = true},
};

}  // namespace

constinit const Family kLosses{"losses", "Losses of a model.", kLossRows};

}  // namespace gt
