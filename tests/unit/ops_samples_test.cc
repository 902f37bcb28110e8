#include "ops_samples.h"

#include <gtest/gtest.h>

#include <set>

#include "kernels_harness.h"
#include "ops/families.h"
#include "ops/table.h"

namespace gt {
namespace {

using exec::fill_in;
using exec::kernel_cases;
using exec::KernelCase;
using exec::Names;
using exec::random_tensors;

struct Typed {
  const char* line;
  const char* types;
  const char* results;
};

constexpr Typed kTyped[] = {
    {"y = tensor f32[2,2] 1 2.5 -3 inf", "", "f32[2,2]"},
    {"y = tensor bool[2] true 0", "", "bool[2]"},
    {"y = tensor i64[0]", "", "i64[0]"},
    {"y = full f64[2,0] 3", "", "f64[2,0]"},
    {"y = full i32[2] v", "v f32[]", "i32[2]"},
    {"y = zeros bf16[]", "", "bf16[]"},
    {"y = ones bool[2,1]", "", "bool[2,1]"},
    {"y = arange i32[4]", "", "i32[4]"},
    {"y = arange f16[4] s 0.5", "s i64[]", "f16[4]"},
    {"y = eye u8[2,3]", "", "u8[2,3]"},
    {"y = randn f32[2] 7 scale=0.1", "", "f32[2]"},
    {"y = rand f64[2] s", "s i64[]", "f64[2]"},
    {"y = randperm i64[5] 7", "", "i64[5]"},
    {"y = load \"x.npy\" f32[2] 1", "", "f32[2]"},
    {"y = add a b", "a f32[2,1] b f32[3]", "f32[2,3]"},
    {"y = add a 1", "a f64[0,3]", "f64[0,3]"},
    {"y = add 2.5 b", "b i64[2]", "f32[2]"},
    {"y = sub a b", "a f32[] b f64[2]", "f64[2]"},
    {"y = mul a b", "a bf16[2] b f16[2]", "f32[2]"},
    {"y = div a b", "a i64[2] b i32[2]", "f32[2]"},
    {"y = div 1 b", "b f64[2]", "f64[2]"},
    {"y = pow a 0", "a f32[2]", "f32[2]"},
    {"y = pow a 1", "a f32[2]", "f32[2]"},
    {"y = pow a 2.0", "a f32[2]", "f32[2]"},
    {"y = pow a -0.5", "a f64[2]", "f64[2]"},
    {"y = pow a b", "a f32[2,1] b f32[3]", "f32[2,3]"},
    {"y = pow a b", "a i64[2] b f64[2]", "f64[2]"},
    {"y = pow 2 b", "b f64[2]", "f64[2]"},
    {"y = pow 0 b", "b f64[2]", "f64[2]"},
    {"y = mod a b", "a f32[2] b f32[]", "f32[2]"},
    {"y = floordiv a 2", "a f32[2]", "f32[2]"},
    {"y = neg x", "x f32[2]", "f32[2]"},
    {"y = abs x", "x f32[]", "f32[]"},
    {"y = sign x", "x i64[2]", "i64[2]"},
    {"y = exp x", "x f16[2]", "f16[2]"},
    {"y = log x", "x u8[2]", "f32[2]"},
    {"y = expm1 x", "x i64[2]", "f32[2]"},
    {"y = log1p x", "x bf16[2]", "bf16[2]"},
    {"y = floor x", "x i32[2]", "i32[2]"},
    {"y = ceil x", "x f64[2]", "f64[2]"},
    {"y = round x", "x f16[2]", "f16[2]"},
    {"y = sqrt x", "x f64[2]", "f64[2]"},
    {"y = rsqrt x", "x f32[0]", "f32[0]"},
    {"y = sin x", "x f32[2]", "f32[2]"},
    {"y = cos x", "x f32[2]", "f32[2]"},
    {"y = erf x", "x f32[2]", "f32[2]"},
    {"y = maximum a b", "a f32[2] b f32[1]", "f32[2]"},
    {"y = minimum a 0", "a f32[2]", "f32[2]"},
    {"z = maximum_grad g a b", "g f32[2] a f32[2] b f32[1]", "f32[2]"},
    {"y = copy x", "x f32[2]", "f32[2]"},
    {"y = detach x", "x f32[2]", "f32[2]"},
    {"y = eq a b", "a f32[2] b i64[]", "bool[2]"},
    {"y = ne a 0", "a u8[2]", "bool[2]"},
    {"y = lt a b", "a f32[2] b f32[2]", "bool[2]"},
    {"y = le a b", "a f32[2] b f32[2]", "bool[2]"},
    {"y = gt a b", "a f32[2] b f32[2]", "bool[2]"},
    {"y = ge a b", "a f32[2] b f32[2]", "bool[2]"},
    {"y = and a b", "a f32[2] b bool[2]", "bool[2]"},
    {"y = or a b", "a bool[2] b bool[]", "bool[2]"},
    {"y = not x", "x f32[2]", "bool[2]"},
    {"y = isfinite x", "x i64[2]", "bool[2]"},
    {"y = where c a b", "c bool[2,1] a f32[3] b f64[]", "f32[2,3]"},
    {"y = where c 0 b", "c bool[2] b f16[2]", "f16[2]"},
    {"y = clamp x -1 1", "x f32[2]", "f32[2]"},
    {"y = clamp x lo hi", "x f32[2] lo f32[] hi f32[2]", "f32[2]"},
    {"z = clamp_grad g x -1 hi", "g f32[2] x f32[2] hi f64[]", "f32[2]"},
    {"y = cast x i64", "x f32[2,3]", "i64[2,3]"},
    {"y = cast x bf16", "x f32[]", "bf16[]"},
    {"y = cast 0.1 f64", "", "f64[]"},
    {"y = tanh x", "x i32[2]", "f32[2]"},
    {"z = tanh_grad g y", "g f32[2] y f32[2]", "f32[2]"},
    {"y = sigmoid x", "x bool[2]", "f32[2]"},
    {"z = sigmoid_grad g y", "g f32[2] y f32[2]", "f32[2]"},
    {"y = relu x", "x f32[2]", "f32[2]"},
    {"z = relu_grad g y", "g f32[2] y f32[2]", "f32[2]"},
    {"y = silu x", "x f32[2]", "f32[2]"},
    {"z = silu_grad g x", "g f32[2] x f32[2]", "f32[2]"},
    {"y = gelu x", "x f64[2]", "f64[2]"},
    {"y = gelu x approximate=tanh", "x f32[2]", "f32[2]"},
    {"z = gelu_grad g x", "g f32[2] x f32[2]", "f32[2]"},
    {"z = gelu_grad g x approximate=tanh", "g f32[2] x f32[2]", "f32[2]"},
    {"y = sum x", "x f32[2,3]", "f32[]"},
    {"y = sum x axis=1", "x f16[2,3]", "f16[2]"},
    {"y = sum x axis=0,-1 keepdims=1", "x f32[2,3,4]", "f32[1,3,1]"},
    {"y = sum x", "x bool[2]", "i64[]"},
    {"y = sum x axis=\"\"", "x f32[]", "f32[]"},
    {"y = mean x axis=0", "x f32[2,3]", "f32[3]"},
    {"y = mean x", "x f32[0]", "f32[]"},
    {"y = max x axis=-1", "x f32[2,3]", "f32[2]"},
    {"y = min x keepdims=1", "x u8[2,3]", "u8[1,1]"},
    {"z = max_grad g x y axis=1", "g f32[2] x f32[2,3] y f32[2]", "f32[2,3]"},
    {"z = max_grad g x y axis=0", "g f32[3] x f32[2,3] y f32[3]", "f32[2,3]"},
    {"y = prod x axis=1", "x f32[2,3]", "f32[2]"},
    {"y = prod x", "x i32[]", "i64[]"},
    {"z = prod_grad g x", "g f32[] x f32[2,3]", "f32[2,3]"},
    {"z = prod_grad g x axis=0,2", "g f32[3] x f32[2,3,4]", "f32[2,3,4]"},
    {"z = prod_grad g x", "g f32[] x f32[]", "f32[]"},
    {"y = any x axis=0", "x f32[2,3]", "bool[3]"},
    {"y = all x", "x bool[0]", "bool[]"},
    {"y = var x axis=1", "x f32[2,3]", "f32[2]"},
    {"y = var x correction=0 keepdims=1", "x f64[3]", "f64[1]"},
    {"y = norm x", "x f32[2,3]", "f32[]"},
    {"y = norm x axis=1 ord=1", "x f32[2,3]", "f32[2]"},
    {"y = norm x axis=0 ord=inf keepdims=1", "x f32[2,3]", "f32[1,3]"},
    {"y = argmax x axis=1", "x f32[2,3]", "i64[2]"},
    {"y = argmin x keepdims=1", "x i64[2,3]", "i64[1,1]"},
    {"y = cumsum x axis=-1", "x f32[2,3]", "f32[2,3]"},
    {"i = argsort x descending=1", "x f32[2,3]", "i64[2,3]"},
    {"v i = sort x axis=0", "x f32[2,3]", "f32[2,3] i64[2,3]"},
    {"v i = topk x size=2", "x f32[2,3]", "f32[2,2] i64[2,2]"},
    {"y = matmul a b", "a f32[2,3] b f32[3,4]", "f32[2,4]"},
    {"y = matmul a b ta=1", "a f32[3,2] b f32[3,4]", "f32[2,4]"},
    {"y = matmul a b tb=1", "a f32[5,1,2,3] b f32[6,4,3]", "f32[5,6,2,4]"},
    {"y = matmul a b ta=1 tb=1", "a f32[3,2] b f32[4,3]", "f32[2,4]"},
    {"y = matmul a b", "a f32[5,2,3] b f32[3,4]", "f32[5,2,4]"},
    {"y = matmul a b tb=1", "a f32[5,0,3] b f32[4,3]", "f32[5,0,4]"},
    {"y = matmul a b ta=1", "a f32[5,3,2] b f32[3,4]", "f32[5,2,4]"},
    {"y = matmul a b out=f32", "a f16[2,3] b f16[3,4]", "f32[2,4]"},
    {"y = linear x w", "x f32[3] w f32[3,4]", "f32[4]"},
    {"y = linear x w b out=f32", "x f16[2,3] w f16[3,4] b f16[4]", "f32[2,4]"},
    {"y = linear x w b", "x f32[3] w f32[3,4] b f32[4]", "f32[4]"},
    {"y = linear x w b", "x f32[5,2,3] w f32[3,4] b f32[4]", "f32[5,2,4]"},
    {"y = linear x w", "x f32[2,3] w f32[3,4]", "f32[2,4]"},
    {"y = reshape x shape=3,-1", "x f32[2,3]", "f32[3,2]"},
    {"y = reshape x shape=\"\"", "x f32[1]", "f32[]"},
    {"y = squeeze x", "x f32[1,2,1]", "f32[2]"},
    {"y = squeeze x axis=0,1", "x f32[1,2,1]", "f32[2,1]"},
    {"y = unsqueeze x axis=0,-1", "x f32[2]", "f32[1,2,1]"},
    {"y = transpose x", "x f32[2,3,4]", "f32[4,3,2]"},
    {"y = transpose x axes=-1,0,1", "x f32[2,3,4]", "f32[4,2,3]"},
    {"y = expand x shape=3,-1,4", "x f32[2,1]", "f32[3,2,4]"},
    {"y = flip x", "x f32[2,3]", "f32[2,3]"},
    {"y = flip x axis=-1", "x f32[2,3]", "f32[2,3]"},
    {"y = pad x width=1,0,-1,2 value=0.5", "x f32[2,3]", "f32[3,4]"},
    {"y = slice x 1:2", "x f32[2,3]", "f32[1,3]"},
    {"y = slice x 1:", "x f32[2,1,2,1,2]", "f32[1,1,2,1,2]"},
    {"y = slice x -1 0:3:2", "x f32[2,3]", "f32[2]"},
    {"y = slice x 0 1:", "x f32[2,3]", "f32[2]"},
    {"y = slice x : 5:", "x f32[2,3]", "f32[2,0]"},
    {"y = slice x 1 axis=-1 size=2", "x f32[2,3]", "f32[2,2]"},
    {"y = slice x i axis=0 size=1", "x f32[2,3] i i64[]", "f32[1,3]"},
    {"y = concat a b axis=-1", "a f32[2,3] b f64[2,1]", "f64[2,4]"},
    {"y = concat a", "a f32[2]", "f32[2]"},
    {"y = stack a b c axis=-1", "a f32[2] b f32[2] c f32[2]", "f32[2,3]"},
    {"y = stack a", "a f32[]", "f32[1]"},
    {"a b = split x axis=1", "x f32[2,4]", "f32[2,2] f32[2,2]"},
    {"a b c = split x sizes=1,0,3", "x f32[4]", "f32[1] f32[0] f32[3]"},
    {"y = gather x i axis=-1", "x f32[2,3] i i64[2,5]", "f32[2,5]"},
    {"y = scatter_add x i s", "x f32[3] i i32[4] s f32[4]", "f32[3]"},
    {"y = embedding t i", "t f32[5,3] i i64[2,4]", "f32[2,4,3]"},
    {"y = embedding t 2", "t f32[5,3]", "f32[3]"},
    {"z = gather_grad g i rows=5", "g f32[2,3] i u8[2,3]", "f32[5,3]"},
    {"z = embedding_grad g i rows=5", "g f32[2,3] i u8[2]", "f32[5,3]"},
    {"y = take x i axis=1", "x bool[2,3,4] i i32[5,6]", "bool[2,5,6,4]"},
    {"y = take x i axis=0", "x f32[2,3] i u8[0]", "f32[0,3]"},
    {"y = take x -1", "x f32[2,3]", "f32[]"},
    {"y = take x i", "x f16[4] i i64[2,2]", "f16[2,2]"},
    {"z = take_grad g i rows=5 axis=-2", "g f32[3,2,4] i i64[2]", "f32[3,5,4]"},
    {"y = scatter x i s axis=1", "x i32[2,3] i i64[2,5] s i32[2,5]",
     "i32[2,3]"},
    {"z = scatter_grad g i", "g f64[3] i i32[4]", "f64[4]"},
    {"y = one_hot x num_classes=4", "x u8[2,3]", "i64[2,3,4]"},
    {"y = softmax x", "x f32[2,3]", "f32[2,3]"},
    {"y = softmax x axis=0", "x f32[0,3]", "f32[0,3]"},
    {"z = softmax_grad g y axis=0", "g f32[2,3] y f32[2,3]", "f32[2,3]"},
    {"y = log_softmax x", "x f64[3]", "f64[3]"},
    {"z = log_softmax_grad g y", "g f32[2,3] y f32[2,3]", "f32[2,3]"},
    {"y = cross_entropy x t", "x f32[2,3] t i64[2]", "f32[]"},
    {"y = cross_entropy x t reduction=none", "x f16[4,2,3] t u8[4,2]",
     "f16[4,2]"},
    {"y = cross_entropy x t reduction=sum", "x f32[3] t i64[]", "f32[]"},
    {"y = cross_entropy x t w label_smoothing=0.1",
     "x f32[2,3] t i64[2] w f32[3]", "f32[]"},
    {"y = cross_entropy x t reduction=none ignore_index=-100",
     "x bf16[2,3] t i64[2]", "bf16[2]"},
    {"y = cross_entropy x t out=f32", "x f16[2,3] t i64[2]", "f32[]"},
    {"y = var x correction=0.5", "x f32[2]", "f32[]"},
    {"z = cross_entropy_grad g x t", "g f32[] x f32[2,3] t i64[2]", "f32[2,3]"},
    {"z = cross_entropy_grad g x t reduction=none",
     "g f32[2] x f32[2,3] t i32[2]", "f32[2,3]"},
    {"z = cross_entropy_grad g x t", "g f32[] x f16[2,3] t i64[2]", "f16[2,3]"},
    {"z = cross_entropy_grad g x t reduction=sum",
     "g f32[] x f32[2,3] t i64[2]", "f32[2,3]"},
    {"y = mse x t", "x f32[2,3] t f32[2,3]", "f32[]"},
    {"y = mse x 0.5 reduction=none", "x f64[2]", "f64[2]"},
    {"y = bce x t", "x f32[2] t f32[2]", "f32[]"},
    {"y = bce x 1 reduction=sum", "x f32[2]", "f32[]"},
    {"z = bce_grad g x t", "g f32[] x f32[2] t f32[2]", "f32[2]"},
    {"z = bce_target_grad g x", "g f32[2] x f32[2]", "f32[2]"},
    {"y = layer_norm x", "x f32[2,3]", "f32[2,3]"},
    {"y = layer_norm x w eps=0.1", "x f16[3] w f16[3]", "f16[3]"},
    {"y = layer_norm x w b", "x f32[0,3] w f64[3] b f32[3]", "f64[0,3]"},
    {"gx = layer_norm_grad g x", "g f32[2,3] x f32[2,3]", "f32[2,3]"},
    {"gx gw = layer_norm_grad g x w", "g bf16[3] x bf16[3] w bf16[3]",
     "bf16[3] bf16[3]"},
    {"gx gw gb = layer_norm_grad g x w eps=0",
     "g f32[4,2,3] x f32[4,2,3] w "
     "f32[3]",
     "f32[4,2,3] f32[3] f32[3]"},
    {"y = rms_norm x", "x f32[2,3]", "f32[2,3]"},
    {"y = rms_norm x w eps=0.1", "x bf16[2,0] w bf16[0]", "bf16[2,0]"},
    {"gx = rms_norm_grad g x", "g f32[2,3] x f32[2,3]", "f32[2,3]"},
    {"gx gw = rms_norm_grad g x w", "g f16[2,3] x f16[2,3] w f16[3]",
     "f16[2,3] f16[3]"},
    {"o = attention q k v", "q f32[3,4] k f32[5,4] v f32[5,6]", "f32[3,6]"},
    {"o = attention q k v causal=1 heads=2 scale=0.5 part=0,1,0/2,7,6",
     "q f32[2,3,4] k f32[1,7,4] v f32[2,7,6]", "f32[2,3,6]"},
    {"o l = attention q k v", "q f64[2,3,4] k f64[2,5,4] v f64[2,5,4]",
     "f64[2,3,4] f64[2,3]"},
    {"o l = attention q k v causal=1 heads=1",
     "q f16[2,3,4] k f16[2,3,4] v f16[2,3,4]", "f16[2,3,4] f32[2,1,3]"},
    {"o l = attention q k v", "q f32[3,4] k f32[0,4] v f32[0,4]",
     "f32[3,4] f32[3]"},
    {"o l = attention q k v m heads=2",
     "q f32[2,3,4] k f32[2,5,4] v f32[2,5,4] m bool[3,5]",
     "f32[2,3,4] f32[2,2,3]"},
    {"o = attention q k v m causal=1",
     "q f16[2,3,4] k f16[5,4] v f16[5,6] m f16[2,1,5]", "f16[2,3,6]"},
    {"o l = attention q k v heads=4 enable_gqa=1",
     "q f32[3,8] k f32[5,4] v f32[5,6]", "f32[3,12] f32[4,3]"},
    {"o = attention q k v enable_gqa=1",
     "q f64[4,3,2] k f64[2,5,2] v f64[2,5,3]", "f64[4,3,3]"},
    {"y = repeat_heads x size=3", "x f32[2,4,5]", "f32[6,4,5]"},
    {"y = repeat_heads x size=3 heads=2", "x f32[4,6]", "f32[4,18]"},
    {"y = fold_heads x size=3 heads=2", "x f32[4,18]", "f32[4,6]"},
    {"gq gk gv = attention_grad q k v o l g e m",
     "q f32[3,4] k f32[5,4] v f32[5,6] o f32[3,6] l f32[3] g f32[3,6] e f32[3] "
     "m bool[5]",
     "f32[3,4] f32[5,4] f32[5,6]"},
    {"gq gk gv = attention_grad q k v o l g",
     "q f32[3,4] k f32[5,4] v f32[5,6] o f32[3,6] l f32[3] g f32[3,6]",
     "f32[3,4] f32[5,4] f32[5,6]"},
    {"gq gk gv = attention_grad q k v o l g e causal=1 heads=2 "
     "part=0,1,0/2,7,6",
     "q bf16[2,3,4] k bf16[1,7,4] v bf16[2,7,6] o bf16[2,3,6] l f32[2,2,3] "
     "g bf16[2,3,6] e f32[2,2,3]",
     "bf16[2,3,4] bf16[2,7,4] bf16[2,7,6]"},
    {"y = split_heads x heads=2", "x f32[5,3,4]", "f32[5,2,3,2]"},
    {"y = split_heads x", "x f32[3,4]", "f32[3,4]"},
    {"y = merge_heads x heads=2", "x f32[2,3,2]", "f32[3,4]"},
    {"y = merge_heads x", "x f32[3,4]", "f32[3,4]"},
    {"y = dropout x 0.5 7", "x f16[2,3]", "f16[2,3]"},
    {"y = dropout x p s part=1,0/4,3", "x f32[2,3] p f32[] s i64[]",
     "f32[2,3]"},
    {"y = probability p", "p f32[]", "f32[]"},
    {"y = rope x", "x f32[2,3,4]", "f32[2,3,4]"},
    {"y = rope x 5 base=100 heads=2 part=2,0/9,4", "x f64[3,4]", "f64[3,4]"},
    {"y = rope x s interleaved=1", "x bf16[5,2,3,4] s i32[]", "bf16[5,2,3,4]"},
    {"y = rope_grad x s heads=2 part=2,0/9,4", "x f32[3,4] s i64[]",
     "f32[3,4]"},
    {"w = sgd w g 0.1", "w f32[2] g f32[2]", "f32[2]"},
    {"w v = sgd w g v lr momentum=0.9", "w f32[] g f32[] v f32[] lr f64[]",
     "f32[] f32[]"},
    {"y = step_number t", "t f64[]", "f64[]"},
    {"w m v = adamw w g m v t lr",
     "w f16[2] g f16[2] m f16[2] v f16[2] "
     "t i64[] lr f32[]",
     "f16[2] f16[2] f16[2]"},
    {"w m v = adamw w g m v 3 0.1 decay=0", "w f16[] g f16[] m f16[] v f16[]",
     "f16[] f16[] f16[]"},
    {"a b = clip a b 1.0", "a f32[2] b f16[]", "f32[2] f16[]"},
    {"a = clip a m", "a f32[2] m f32[]", "f32[2]"},
    {"print x as=y", "x f32[2]", ""},
    {"save x \"x.npy\"", "x f32[2]", ""},
    {"free x y", "x f32[2] y i64[]", ""},
};

// A line of the table at small sizes, in the first of its dtypes.
Sample sample_of(const KernelCase& c) {
  const Names names{dtypes_of(c)[0], {{'M', 2}, {'N', 3}, {'K', 4}}};
  Sample sample{fill_in(c.line, names), "", ""};
  for (const auto& [name, tensor] : random_tensors(c.operands, names, 1)) {
    if (!sample.types.empty()) sample.types += ' ';
    sample.types += name + " " + to_string(tensor.type);
  }
  return sample;
}

TEST(Samples, BindToTheExpectedTypes) {
  for (const Typed& sample : kTyped) {
    Bound bound(sample.line, parse_types(sample.types));
    EXPECT_EQ(bound.message(), "") << sample.line;
    EXPECT_EQ(bound.types(), sample.results) << sample.line;
  }
}

TEST(Samples, CoverEveryOp) {
  std::set<std::string_view> seen = {"grad", "fail"};  // these never bind
  for (const Sample& sample : samples()) {
    Line line;
    ASSERT_TRUE(parse_line(sample.line, line).ok());
    seen.insert(line.op);
  }
  for (const Op& op : all_ops()) {
    // Ops that cross ranks never bind without pieces; spmd_*_test.cc test them.
    if (op.family == &kRanks) continue;
    EXPECT_TRUE(seen.contains(op.name)) << op.name << " has no sample";
  }
}

}  // namespace

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> made;
    for (const Typed& t : kTyped) made.push_back({t.line, t.types, t.results});
    for (const KernelCase& c : kernel_cases()) made.push_back(sample_of(c));
    return made;
  }();
  return all;
}

TypeMap parse_types(std::string_view text) {
  TypeMap types;
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    const size_t end = std::min(text.find(' ', blank + 1), text.size());
    const auto type = parse_type(text.substr(blank + 1, end - blank - 1));
    GT_CHECK(type.ok());
    types.emplace(text.substr(0, blank), type.value());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return types;
}

Bound::Bound(std::string text, const TypeMap& names) : text_(std::move(text)) {
  status_ = parse_line(text_, line_);
  if (!status_.ok()) return;
  operand_types_.reserve(line_.operands.size());
  std::vector<const Type*> types;
  for (const Operand& operand : line_.operands) {
    types.push_back(nullptr);
    if (operand.kind != Operand::Kind::kName) continue;
    const auto it = names.find(operand.text);
    if (it == names.end()) {
      status_ = Error{"no type for " + std::string(operand.text)};
      return;
    }
    operand_types_.push_back(it->second);
    types.back() = &operand_types_.back();
  }
  status_ = gt::bind(line_, types, call_);
}

std::string Bound::types() const {
  std::string out;
  for (const Type& type : call_.results) {
    if (!out.empty()) out += ' ';
    out += to_string(type);
  }
  return out;
}

}  // namespace gt
