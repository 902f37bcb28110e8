// Normalisation over the last dimension. In the texts below n is the normalised
// x and r what it was multiplied by: n = (x - mean x) r, or n = x r.
#include <cmath>

#include "ops/families.h"
#include "ops/row_text.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

// The result types gx gw gb for the operands g x [w].
Status types_norm_grad(Call& call) {
  const Shape& x = call.type(1).shape;
  if (x.empty()) {
    return Error{call.describe(1) + " must have at least 1 dimension"};
  }
  if (!(call.type(0).shape == x)) {
    return Error{call.describe(0) + " and " + call.describe(1) +
                 " must have one shape"};
  }
  const Shape last{x.back()};
  if (call.given(2) && !(call.type(2).shape == last)) {
    return Error{call.describe(2) + " must have the shape [" + to_string(last) +
                 "]"};
  }
  const Dtype dtype = promote(call.arguments);
  call.results.push_back({dtype, x});
  for (size_t i = 1; i < call.result_count; ++i) {
    call.results.push_back({dtype, last});
  }
  return need(call.result_count == 1 || call.given(2),
              "without w there is only gx");
}

// The placeholders of norms. {axis}: the last; {lead}: the axes except it;
// {flat}: "1" if there are none; {share}: 1 over the root of its size; {root}:
// eps=, its root.
std::string row_norm_word(const Call& call, std::string_view name, size_t) {
  const Shape& shape = call.results[0].shape;
  const size_t rank = shape.size();
  if (name == "axis") return "-1";
  if (name == "root") return number_text(std::sqrt(call.number("eps")));
  if (name == "share") {
    return number_text(1 / std::sqrt(static_cast<double>(shape.back())));
  }
  if (name == "flat") return rank == 1 ? "1" : "0";
  if (name != "lead") return "";
  std::vector<int64_t> axes;
  for (size_t i = 0; i + 1 < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return list_text(axes);
}

// Computes n and r from e, which is x or the centered x (kCentered): the root
// of its mean square, v, plus eps is taken without a square or a sum that
// leaves the range. With a the larger and b the smaller of both roots, it is a
// sqrt(1 + (b / a)^2). If e is half of the centered x, so is the root of eps,
// and r of x is half of that of e.
constexpr char kSpread[] = R"(
       q = mul e {share}
       v = norm q axis=-1 keepdims=1)";
constexpr char kLayerEps[] = R"(
       vr = mul mh {root}
       va = maximum v vr
       vb = minimum v vr)";
constexpr char kRmsEps[] = R"(
       va = maximum v {root}
       vb = minimum v {root})";
constexpr char kScaled[] = R"(
       vc = div vb va
       vd = mul vc vc
       ve = add vd 1
       vf = sqrt ve
       u = mul va vf
       ua = div 1 u
       n = mul e ua)";
constexpr char kLayerScale[] = "\n       r = mul ua mh";
constexpr char kRmsScale[] = "\n       r = copy ua";

constexpr char kRmsOfX[] = "\n       e = copy x";

// Computes h: the gradient with respect to n.
constexpr char kGradientOfN[] = R"(
       [w] h = mul g w
       [!w] h = copy g)";

// Computes b2: h without its parts along the constants and along n. The mean
// and the square of n are fixed, so x cannot move n in these directions. x's
// gradient is b2 r.
constexpr char kLayerBesideN[] = R"(
       b = mul h n
       bm = mean b axis=-1 keepdims=1
       bn = mul n bm
       b0 = mean h axis=-1 keepdims=1
       b1 = sub h b0
       b2 = sub b1 bn)";

// Computes b2: h without its part along n, whose square is fixed, so that x
// cannot move n in this direction. x's gradient is b2 r.
constexpr char kRmsBesideN[] = R"(
       b = mul h n
       bm = mean b axis=-1 keepdims=1
       bn = mul n bm
       b2 = sub h bn)";

// Computes the results gx and gw.
constexpr char kGradients[] = R"(
       gx = mul b2 r
       [gw] k = mul g n
       [gw flat=0] gw = sum k axis={lead}
       [gw flat=1] gw = copy k)";

// Computes k7, for the gradient of the gradient: x's is k7 r, in layer_norm
// without its mean. f is the gradient with respect to n. k7 is f without its
// part along n, k1, and without what comes through r, k4.
constexpr char kSecondOfX[] = R"(
       f0 = mul dgx bm
       f1 = mul h am
       f2 = add f0 f1
       f3 = mul f2 r
       [dgw] f4 = mul g dgw
       [dgw] f = sub f4 f3
       [!dgw] f = neg f3
       k0 = mul f n
       k1 = mean k0 axis=-1 keepdims=1
       k2 = mul dgx b2
       k3 = mean k2 axis=-1 keepdims=1
       k4 = mul k3 r
       k5 = add k1 k4
       k6 = mul n k5
       k7 = sub f k6)";

constexpr auto kLayerNorm =
    row_text(kCentered, kSpread, kLayerEps, kScaled, kLayerScale, R"(
       [w] s = mul n w
       [!w] s = copy n
       [b] y = add s b
       [!b] y = copy s)");
constexpr auto kLayerNormSecond = row_text(
    kCentered, kSpread, kLayerEps, kScaled, kLayerScale, kGradientOfN, R"(
       a = mul dgx n
       am = mean a axis=-1 keepdims=1
       an = mul n am
       a0 = mean dgx axis=-1 keepdims=1
       a1 = sub dgx a0
       a2 = sub a1 an
       p = mul a2 r
       [w] s = mul p w
       [!w] s = copy p
       [dgw] sw = mul n dgw
       [dgw] t = add s sw
       [!dgw] t = copy s
       [dgb] dg = add t dgb
       [!dgb] dg = copy t
       [w] dw = mul p g)",
    kLayerBesideN, kSecondOfX, R"(
       k8 = mul k7 r
       k9 = mean k8 axis=-1 keepdims=1
       dx = sub k8 k9)");
constexpr auto kLayerNormGrad =
    row_text(kCentered, kSpread, kLayerEps, kScaled, kLayerScale, kGradientOfN,
             kLayerBesideN, kGradients, R"(
       [gb flat=0] t = sum g axis={lead}
       [gb flat=1] t = copy g
       [gb] gb = cast t {gx.dtype})");
constexpr auto kRmsNorm =
    row_text(kRmsOfX, kSpread, kRmsEps, kScaled, kRmsScale, R"(
       [w] y = mul n w
       [!w] y = copy n)");
constexpr auto kRmsNormSecond =
    row_text(kRmsOfX, kSpread, kRmsEps, kScaled, kRmsScale, kGradientOfN, R"(
       a = mul dgx n
       am = mean a axis=-1 keepdims=1
       an = mul n am
       a2 = sub dgx an
       p = mul a2 r
       [w] s = mul p w
       [!w] s = copy p
       [dgw] sw = mul n dgw
       [dgw] dg = add s sw
       [!dgw] dg = copy s
       [w] dw = mul p g)",
             kRmsBesideN, kSecondOfX, R"(
       dx = mul k7 r)");
constexpr auto kRmsNormGrad =
    row_text(kRmsOfX, kSpread, kRmsEps, kScaled, kRmsScale, kGradientOfN,
             kRmsBesideN, kGradients);

constexpr Row kNormRows[] = {
    {.signature = "y = layer_norm x [w] [b] eps=1e-5",
     .index = "...c!,c!,c!->...c",
     .accepts = "float",
     .gradient = R"(
       [!w] dx = layer_norm_grad dy x eps={eps}
       [w !b] dx dw = layer_norm_grad dy x w eps={eps}
       [b] dx dw db = layer_norm_grad dy x w eps={eps})",
     .expansion = kLayerNorm.data(),
     .in_f32 = true,
     .placeholder = row_norm_word,
     .flops = 8,
     .sense = "The last dimension shifted to mean 0 and scaled to variance 1, "
              "then times w, plus b.",
     .details = "x [...,c], w [c] and b [c]; the variance is that of all c "
                "elements, eps is added to it. f16 and bf16 are computed in "
                "f32. Errors: sizes differ; integers.",
     .source = "torch.nn.functional.layer_norm; Ba et al., Layer "
               "normalization, 2016; between two reshapes, "
               "torch.nn.functional.group_norm; of [n,c,h w] "
               "without w and b, torch.nn.functional.instance_norm",
     .example = "x = tensor f32[4] 1 3 1 3\n"
                "y = layer_norm x eps=0\n"
                "print y\n"
                "=> y = tensor f32[4] -1 1 -1 1"},
    {.signature = "gx [gw] [gb] = layer_norm_grad g x [w] eps=1e-5",
     .index = "...c!,...c!,c!->...c,c,c",
     .linear = "0",
     .accepts = "float",
     .gradient = kLayerNormSecond.data(),
     .expansion = kLayerNormGrad.data(),
     .in_f32 = true,
     .types = types_norm_grad,
     .placeholder = row_norm_word,
     .flops = 16,
     .sense = "Gradients of layer_norm.",
     .source = "PyTorch's native_layer_norm_backward",
     .internal = true},
    {.signature = "y = rms_norm x [w] eps=1e-5",
     .index = "...c!,c!->...c",
     .accepts = "float",
     .gradient = R"(
       [!w] dx = rms_norm_grad dy x eps={eps}
       [w] dx dw = rms_norm_grad dy x w eps={eps})",
     .expansion = kRmsNorm.data(),
     .in_f32 = true,
     .placeholder = row_norm_word,
     .flops = 5,
     .sense = "The last dimension scaled to mean square 1, then times w.",
     .details = "x [...,c] and w [c]; eps is added to the mean square. f16 and "
                "bf16 are computed in f32. Errors: sizes differ; integers.",
     .source = "torch.nn.functional.rms_norm; Zhang and Sennrich, Root mean "
               "square layer normalization, 2019",
     .example = "x = tensor f32[4] 2 -2 2 2\n"
                "y = rms_norm x eps=0\n"
                "print y\n"
                "=> y = tensor f32[4] 1 -1 1 1"},
    {.signature = "gx [gw] = rms_norm_grad g x [w] eps=1e-5",
     .index = "...c!,...c!,c!->...c,c",
     .linear = "0",
     .accepts = "float",
     .gradient = kRmsNormSecond.data(),
     .expansion = kRmsNormGrad.data(),
     .in_f32 = true,
     .types = types_norm_grad,
     .placeholder = row_norm_word,
     .flops = 10,
     .sense = "Gradients of rms_norm.",
     .source = "The chain rule",
     .internal = true},
};

}  // namespace

constinit const Family kNorms{"norms", "Normalisation over the last dimension.",
                              kNormRows};

}  // namespace gt
