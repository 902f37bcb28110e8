// The grid: every op of the table on every dtype, sizes 0, 1, odd and random,
// broadcast, negative axes. An op without a case fails.
#include <gtest/gtest.h>

#include <set>

#include "exec/philox.h"
#include "kernels_harness.h"
#include "ops/families.h"
#include "ops/table.h"

namespace gt {
namespace {

constexpr bool kNorm = true;

constexpr KernelCase kCases[] = {
    // creation
    {"y = tensor $T[4] 1 0 1 1", "", "all", 0, false},
    {"y = tensor $T[3] 0.1 -2.5e-3 inf", "", "float", 0, false},
    {"y = full $T[$M,$N] 1", "", "all", 0, false},
    {"y = full $T[$M] s", "s f32[]", "number", 0, false},
    {"y = zeros $T[$M,$N]", "", "all", 0, false},
    {"y = ones $T[$M,$N]", "", "all", 0, false},
    {"y = arange $T[$M]", "", "number", 0, false},
    {"y = arange $T[$M] 3 -0.3", "", "float", 0, false},
    {"y = eye $T[$M,$N]", "", "all", 0, false},
    {"y = rand $T[$M,$N] 7", "", "float", 0, false},
    {"y = rand $T[3000] s", "s i64[]", "float", 0, false},
    {"y = randn $T[$M,$N] 7 scale=0.1", "", "float", 0, false},
    {"y = randn $T[3001] -1", "", "float", 0, false},
    {"y = randperm $T[$M] 3", "", "int", 0, false},
    // arithmetic
    {"y = add a b", "a $T[$M,$N] b $T[$M,$N]", "all", 0, false},
    {"y = add a b", "a $T[$M,1,$K] b $T[$N,1]", "all", 0, false},
    {"y = add a b", "a $T[$M,$N] b i32[$N]", "number", 0, false},
    {"y = add a s", "a $T[$M,$N] s f64[]", "float", 0, false},
    {"y = sub 1 b", "b $T[$M]", "number", 0, false},
    {"y = sub a b", "a $T[$M,$N] b $T[$N]", "number", 0, false},
    {"y = mul a 0.1", "a $T[$M,$N]", "float", 0, false},
    {"y = mul a b", "a $T[$M,1] b $T[$M,$N]", "all", 0, false},
    {"y = mul a b", "a $T[$M] b f64[$M]", "all", 0, false},
    {"y = div a b", "a $T[$M,$N] b $T[$M,$N]", "number", 0, false},
    {"y = div a 3", "a $T[$M]", "number", 0, false},
    {"y = pow a b", "a $T[$M,$N]>0 b $T[$N]", "float", 4, false},
    {"y = pow a b", "a $T[$M,$N] b $T[$N]>0", "int", 0, false},
    {"y = pow a 2", "a $T[$M,$N]", "number", 1, false},
    {"y = pow a 3", "a $T[$M,$N]", "number", 1.5, false},
    {"y = pow a -0.5", "a $T[$M,$N]>0", "float", 4, false},
    {"y = mod a b", "a $T[$M,$N] b $T[$N]>0", "number", 0, false},
    {"y = mod a -3", "a $T[$M]", "float i64 i32", 0, false},
    {"y = floordiv a b", "a $T[$M,$N] b $T[$N]>0", "number", 0, false},
    {"y = floordiv a b", "a $T[$M] b $T[$M]", "float", 0, false},
    {"y = neg x", "x $T[$M,$N]", "number", 0, false},
    {"y = abs x", "x $T[$M,$N]", "number", 0, false},
    {"y = sign x", "x $T[$M,$N]", "number", 0, false},
    {"y = exp x", "x $T[$M,$N]", "all", 4, false},
    {"y = log x", "x $T[$M,$N]>0", "number", 4, false},
    {"y = sqrt x", "x $T[$M,$N]", "number", 0, false},
    {"y = rsqrt x", "x $T[$M,$N]>0", "number", 2, false},
    {"y = sin x", "x $T[$M,$N]", "number", 4, false},
    {"y = cos x", "x $T[$M,$N]", "number", 4, false},
    {"y = tanh x", "x $T[$M,$N]", "all", 4, false},
    {"y = erf x", "x $T[$M,$N]", "number", 4, false},
    {"y = maximum a b", "a $T[$M,1] b $T[$N]", "all", 0, false},
    {"y = minimum a 0", "a $T[$M]", "number", 0, false},
    {"z = maximum_grad g a b", "g $T[$M,$N] a $T[$M,$N] b $T[$N]", "float", 0,
     false},
    {"y = copy x", "x $T[$M,$N]", "all", 0, false},
    {"y = detach x", "x $T[$M,$N]", "all", 0, false},
    // comparisons and choices
    {"y = eq a b", "a $T[$M,$N] b $T[$N]", "all", 0, false},
    {"y = ne a 0.5", "a $T[$M,$N]", "float", 0, false},
    {"y = ne a 1", "a $T[$M,$N]", "all", 0, false},
    {"y = lt a b", "a $T[$M,1] b $T[$N]", "all", 0, false},
    {"y = le a b", "a $T[$M,$N] b $T[$M,$N]", "all", 0, false},
    {"y = gt a b", "a $T[$M,$N] b i64[]", "all", 0, false},
    {"y = ge 0.1 b", "b $T[$M,$N]", "float", 0, false},
    {"y = and a b", "a $T[$M,$N] b bool[$N]", "all", 0, false},
    {"y = or a b", "a $T[$M,$N] b $T[$M,$N]", "all", 0, false},
    {"y = not x", "x $T[$M,$N]", "all", 0, false},
    {"y = isfinite x", "x $T[$M,$N]", "all", 0, false},
    {"y = where c a b", "c bool[$M,1] a $T[$N] b $T[$M,$N]", "all", 0, false},
    {"y = where c 0 b", "c bool[$M,$N] b $T[$M,$N]", "number", 0, false},
    {"y = where c a b", "c bool[$M,$N] a $T[] b $T[$N]", "all", 0, false},
    {"y = where c a 1", "c bool[$N] a $T[$M,$N]", "number", 0, false},
    {"y = clamp x -1 1", "x $T[$M,$N]", "float i64 i32", 0, false},
    {"y = clamp x lo hi", "x $T[$M,$N] lo $T[] hi $T[$N]", "number", 0, false},
    {"z = clamp_grad g x -1 hi", "g $T[$M] x $T[$M] hi $T[]", "float", 0,
     false},
    {"y = cast x f32", "x $T[$M,$N]", "all", 0, false},
    {"y = cast x f64", "x $T[$M,$N]", "all", 0, false},
    {"y = cast x f16", "x $T[$M,$N]", "all", 0, false},
    {"y = cast x bf16", "x $T[$M,$N]", "all", 0, false},
    {"y = cast x i64", "x $T[$M,$N]", "all", 0, false},
    {"y = cast x i32", "x $T[$M,$N]", "all", 0, false},
    {"y = cast x u8", "x $T[$M,$N]", "all", 0, false},
    {"y = cast x bool", "x $T[$M,$N]", "all", 0, false},
    // activations
    {"y = sigmoid x", "x $T[$M,$N]", "number", 4, false},
    {"y = relu x", "x $T[$M,$N]", "number", 0, false},
    {"y = silu x", "x $T[$M,$N]", "float", 5, false},
    {"y = gelu x", "x $T[$M,$N]", "float", 3, kNorm},
    {"y = gelu x approximate=tanh", "x $T[$M,$N]", "float", 3, kNorm},
    {"z = tanh_grad g y", "g $T[$M] y $T[$M]<1", "float", 4, kNorm},
    {"z = sigmoid_grad g y", "g $T[$M] y $T[$M]<1", "float", 4, kNorm},
    {"z = relu_grad g y", "g $T[$M,$N] y $T[$M,$N]", "float", 0, false},
    {"z = silu_grad g x", "g $T[$M,$N] x $T[$M,$N]", "float", 4, kNorm},
    {"z = gelu_grad g x", "g $T[$M] x $T[$M]", "float", 16, kNorm},
    {"z = gelu_grad g x approximate=tanh", "g $T[$M] x $T[$M]", "float", 16,
     kNorm},
    // reductions
    {"y = sum x", "x $T[$M,$N]>0", "float", 64, kNorm},
    {"y = sum x axis=-1", "x $T[$M,$N,$K]>0", "float", 64, kNorm},
    {"y = sum x axis=0", "x $T[$M,$N]>0", "float", 64, kNorm},
    {"y = sum x axis=1 keepdims=1", "x $T[$M,$N,$K]>0", "float", 64, kNorm},
    {"y = sum x axis=0,2", "x $T[$M,$N,$K]>0", "float", 64, kNorm},
    {"y = sum x axis=0,-1", "x $T[$M,$N,$K]", "i64 i32 u8 bool", 0, false},
    {"y = sum x axis=1", "x $T[$M,$N,$K]", "i64 i32 u8 bool", 0, false},
    {"y = sum x", "x $T[70001]>0", "f32 f64", 64, kNorm},
    {"y = sum x axis=0", "x $T[5003,3]>0", "f32 f64", 64, kNorm},
    {"y = mean x axis=-1", "x $T[$M,$N]>0", "float", 64, kNorm},
    {"y = mean x", "x $T[$M,$N]>0", "float", 64, kNorm},
    {"y = max x axis=1", "x $T[$M,$N,$K]", "all", 0.5, false},
    {"y = max x", "x $T[$M,$N]", "all", 0.5, false},
    {"y = min x axis=-1 keepdims=1", "x $T[$M,$N]", "all", 0.5, false},
    {"y = min x axis=0", "x $T[$M,$N]", "all", 0.5, false},
    {"z = max_grad g x y axis=1", "g $T[$M] x $T[$M,$N] y $T[$M]", "float", 0,
     false},
    {"y = prod x axis=-1", "x $T[$M,5]", "number", 6, false},
    {"y = prod x axis=0", "x $T[4,$M]", "number", 6, false},
    {"z = prod_grad g x axis=1", "g $T[$M] x $T[$M,4]", "f32 f64", 8, kNorm},
    {"y = any x axis=0", "x $T[$M,$N]", "all", 0, false},
    {"y = all x", "x $T[$M,$N]", "all", 0, false},
    {"y = var x axis=-1", "x $T[$M,7]", "float", 12, kNorm},
    {"y = norm x axis=0", "x $T[$M,$N]", "float", 6, kNorm},
    {"y = norm x", "x $T[$M,$N,$K]", "float", 6, kNorm},
    {"y = norm x ord=1", "x $T[$M,$N]", "float", 6, kNorm},
    {"y = norm x ord=inf", "x $T[$M,$N]", "float", 0, false},
    {"y = argmax x axis=-1", "x $T[$M,$N]", "all", 0, false},
    {"y = argmax x axis=0", "x $T[$M,$N,$K]", "all", 0, false},
    {"y = argmin x", "x $T[$M,$N]", "all", 0, false},
    {"y = cumsum x axis=0", "x $T[$M,$N]", "all", 0, false},
    {"y = cumsum x axis=-1", "x $T[$M,$N]", "number", 0, false},
    {"y = cumsum x axis=1", "x $T[$M,$N,$K]", "number", 0, false},
    {"i = argsort x axis=-1", "x $T[$M,$N]", "all", 0, false},
    {"i = argsort x axis=0 descending=1", "x $T[$M,$N]", "all", 0, false},
    {"v i = sort x axis=0", "x $T[$M,$N]", "all", 0, false},
    {"v i = topk x size=2", "x $T[$M,7]", "all", 0, false},
    // products
    {"y = matmul a b", "a $T[$M,$K] b $T[$K,$N]", "float", 8, kNorm},
    {"y = matmul a b ta=1", "a $T[$K,$M] b $T[$K,$N]", "float", 8, kNorm},
    {"y = matmul a b tb=1", "a $T[$M,$K] b $T[$N,$K]", "float", 8, kNorm},
    {"y = matmul a b ta=1 tb=1", "a $T[$K,$M] b $T[$N,$K]", "float", 8, kNorm},
    {"y = matmul a b", "a $T[3,$M,$K] b $T[$K,$N]", "float", 8, kNorm},
    {"y = matmul a b tb=1", "a $T[2,1,$M,$K] b $T[3,$N,$K]", "float", 8, kNorm},
    {"y = matmul a b ta=1", "a $T[2,$K,$M] b $T[1,$K,$N]", "float", 8, kNorm},
    {"y = matmul a b", "a $T[2,$M,$K] b $T[2,$K,$N]", "int", 0, false},
    {"y = matmul a b ta=1 tb=1", "a $T[$K,$M] b $T[$N,$K]", "int", 0, false},
    {"y = matmul a b", "a $T[130,70] b $T[70,90]", "float", 8, kNorm},
    {"y = matmul a b tb=1", "a $T[61,300] b $T[50,300]", "f32 f64", 16, kNorm},
    {"y = linear x w b", "x $T[$M,$K] w $T[$K,$N] b $T[$N]", "float", 8, kNorm},
    {"y = linear x w", "x $T[2,$M,$K] w $T[$K,$N]", "number", 8, kNorm},
    {"y = linear x w b", "x $T[2,$M,$K] w $T[$K,$N] b $T[$N]", "int", 0, false},
    {"y = linear x w b", "x $T[$K] w $T[$K,$N] b $T[$N]", "float", 8, kNorm},
    {"y = linear x w b", "x $T[128,96] w $T[96,40] b $T[40]", "float", 8,
     kNorm},
    // layout
    {"y = reshape x shape=$N,$M", "x $T[$M,$N]", "all", 0, false},
    {"y = squeeze x", "x $T[$M,1,$N]", "all", 0, false},
    {"y = unsqueeze x axis=-1", "x $T[$M,$N]", "all", 0, false},
    {"y = transpose x", "x $T[$M,$N]", "all", 0, false},
    {"y = transpose x axes=1,2,0", "x $T[$M,$N,$K]", "all", 0, false},
    {"y = transpose x axes=0,2,1,3", "x $T[$M,$N,$K,3]", "all", 0, false},
    {"y = transpose x", "x $T[150,131]", "all", 0, false},
    {"y = expand x shape=$K,$M,$N", "x $T[$M,1]", "all", 0, false},
    {"y = expand x shape=$M,$N", "x $T[]", "all", 0, false},
    {"y = slice x 1:3 ::2", "x $T[$M,$N]", "all", 0, false},
    {"y = slice x -1 :-1", "x $T[7,$N,$K]", "all", 0, false},
    {"y = slice x i axis=0 size=3", "x $T[7,$N] i i64[]<5", "all", 0, false},
    {"y = slice x 2 axis=-1 size=3", "x $T[$M,6]", "all", 0, false},
    {"y = concat a b axis=-1", "a $T[$M,$N] b $T[$M,$K]", "all", 0, false},
    {"y = concat a b", "a $T[$M,$N] b f32[$K,$N]", "float", 0, false},
    {"y = stack a b axis=1", "a $T[$M,$N] b $T[$M,$N]", "all", 0, false},
    {"a b = split x axis=0", "x $T[6,$N]", "all", 0, false},
    {"a b = split x axis=1 sizes=2,5", "x $T[$M,7]", "all", 0, false},
    {"y = flip x axis=-1", "x $T[$M,$N]", "all", 0, false},
    {"y = flip x", "x $T[$M,$N]", "all", 0, false},
    {"y = pad x width=1,2,0,3 value=1", "x $T[$M,$N]", "all", 0, false},
    {"y = gather x i axis=1", "x $T[$M,9] i i64[$M,$N]<9", "all", 0, false},
    {"y = pad x width=-1,2,1,-1,0,0", "x $T[4,$M,$N]", "all", 0, false},
    {"y = gather x i axis=0", "x $T[7,5,$N] i u8[$M,3,$N]<7", "all", 0, false},
    {"y = gather x i axis=-1 part=0,3/4,9", "x $T[4,5] i i64[3,$M]<9", "all", 0,
     false},
    {"y = gather x i axis=1", "x $T[0,9] i i64[0,4]", "f32", 0, false},
    {"y = gather x i axis=0", "x $T[9] i i64[$M]<9", "all", 0, false},
    {"y = scatter_add x i s axis=0", "x $T[5,$N] i i32[$M,$N]<5 s $T[$M,$N]",
     "number", 8, kNorm},
    {"y = scatter_add x i s axis=2",
     "x $T[4,$M,6] i i64[3,$M,$N]<6 s "
     "$T[3,$M,$N]",
     "number", 8, kNorm},
    {"y = scatter_add x i s axis=1 part=0,2/4,9",
     "x $T[4,5] i i64[3,$M]<9 s $T[3,$M]", "number", 8, kNorm},
    // norms
    {"y = layer_norm x", "x $T[$M,$N]", "float", 16, kNorm},
    {"y = layer_norm x w b", "x $T[$M,$K,33] w $T[33] b $T[33]", "float", 16,
     kNorm},
    {"y = layer_norm x w eps=0.1", "x $T[$M,7] w $T[7]", "float", 16, kNorm},
    {"gx gw gb = layer_norm_grad g x w", "g $T[$M,33] x $T[$M,33] w $T[33]",
     "float", 32, kNorm},
    {"gx gw = layer_norm_grad g x w eps=0.1",
     "g $T[2,$M,7] x $T[2,$M,7] w $T[7]", "float", 32, kNorm},
    {"gx = layer_norm_grad g x", "g $T[$M,9] x $T[$M,9]", "float", 32, kNorm},
    {"gx gw gb = layer_norm_grad g x w", "g $T[700,65] x $T[700,65] w $T[65]",
     "f32 f64", 64, kNorm},
    {"y = rms_norm x", "x $T[$M,$N]", "float", 16, kNorm},
    {"y = rms_norm x w", "x $T[$M,$K,33] w $T[33]", "float", 16, kNorm},
    {"gx gw = rms_norm_grad g x w", "g $T[$M,33] x $T[$M,33] w $T[33]", "float",
     32, kNorm},
    {"gx = rms_norm_grad g x eps=0.1", "g $T[2,$M,7] x $T[2,$M,7]", "float", 32,
     kNorm},
    // attention
    {"o = attention q k v", "q $T[$M,8] k $T[$N,8] v $T[$N,5]", "float", 32,
     kNorm},
    {"o l = attention q k v", "q $T[2,$M,8] k $T[2,$N,8] v $T[2,$N,8]", "float",
     16, kNorm},
    {"o l = attention q k v causal=1 heads=3",
     "q $T[2,$M,12] k $T[2,$N,12] v $T[2,$N,12]", "float", 32, kNorm},
    {"o l = attention q k v causal=1 heads=2 part=0,3,0/1,40,32",
     "q $T[1,20,32] k $T[1,37,32] v $T[1,37,32]", "float", 32, kNorm},
    {"o = attention q k v causal=1 scale=0.3",
     "q $T[3,70,32] k $T[1,70,32] v $T[3,70,32]", "float", 32, kNorm},
    {"o l = attention q k v causal=1", "q $T[400,24] k $T[400,24] v $T[400,40]",
     "f32 f64", 64, kNorm},
    {"gq gk gv = attention_grad q k v o l g causal=1 scale=0.1",
     "q $T[400,24] k $T[400,24] v $T[400,40] o $T[400,40] l $L[400]>0 "
     "g $T[400,40]",
     "f32 f64", 64, kNorm},
    {"gq gk gv = attention_grad q k v o l g causal=1 scale=0.1",
     "q $T[3,1,70,16] k $T[2,70,16] v $T[1,2,70,8] o $T[3,2,70,8] "
     "l $L[3,2,70]>0 g $T[3,2,70,8]",
     "f32 f64", 64, kNorm},
    {"gq gk gv = attention_grad q k v o l g scale=0.1",
     "q $T[2,$M,8] k $T[2,$N,8] v $T[2,$N,5] o $T[2,$M,5] l $L[2,$M]>0 "
     "g $T[2,$M,5]",
     "float", 64, kNorm},
    {"gq gk gv = attention_grad q k v o l g causal=1 heads=2 scale=0.1 "
     "part=2,0,3,0/9,1,80,64",
     "q $T[2,1,70,32] k $T[2,1,75,32] v $T[2,1,75,64] o $T[2,1,70,64] "
     "l $L[2,1,2,70]>0 g $T[2,1,70,64]",
     "float", 64, kNorm},
    {"gq gk gv = attention_grad q k v o l g e scale=0.1",
     "q $T[$M,8] k $T[$N,8] v $T[$N,5] o $T[$M,5] l $L[$M]>0 g $T[$M,5] "
     "e $L[$M]",
     "float", 64, kNorm},
    {"y = split_heads x heads=3", "x $T[2,$M,12]", "float", 0, false},
    {"y = merge_heads x heads=3", "x $T[2,3,$M,4]", "float", 0, false},
    // positions
    {"y = dropout x 0.3 7", "x $T[$M,$N]", "float", 2, false},
    {"y = dropout x p s", "x $T[3001] p f32[]<1 s i64[]", "float", 2, false},
    {"y = dropout x 0.6 7 part=3,1/99,35", "x $T[5,33]", "float", 2, false},
    {"y = rope x", "x $T[2,$M,8]", "float", 4, kNorm},
    {"y = rope x 5 heads=2 base=100", "x $T[$M,12]", "float", 4, kNorm},
    {"y = rope x s interleaved=1 part=0,3,0/9,99,8", "x $T[2,$M,8] s i64[]",
     "float", 4, kNorm},
    {"y = rope_grad x s heads=2", "x $T[2,$M,12] s i32[]", "float", 4, kNorm},
    {"y = rope_grad x interleaved=1", "x $T[2,$M,12]", "float", 4, kNorm},
    // networks
    {"y = softmax x", "x $T[$M,$N]", "float", 8, kNorm},
    {"y = softmax x axis=0", "x $T[$M,$N]", "float", 8, kNorm},
    {"y = softmax x", "x $T[5,301]", "f32 f64", 8, kNorm},
    {"z = softmax_grad g y", "g $T[$M,$N] y $T[$M,$N]<1", "float", 8, kNorm},
    {"y = log_softmax x", "x $T[$M,$N]", "float", 8, kNorm},
    {"y = log_softmax x axis=0", "x $T[$M,$N]", "float", 8, kNorm},
    {"z = log_softmax_grad g y", "g $T[$M,$N] y $T[$M,$N]", "float", 8, kNorm},
    {"y = cross_entropy x t", "x $T[$M,10] t i64[$M]<10", "float", 8, kNorm},
    {"y = cross_entropy x t reduction=sum", "x $T[3,$M,7] t i32[3,$M]<7",
     "float", 8, kNorm},
    {"y = cross_entropy x t reduction=none", "x $T[$M,33] t u8[$M]<33", "float",
     8, kNorm},
    {"z = cross_entropy_grad g x t", "g $T[] x $T[$M,10] t i64[$M]<10", "float",
     8, kNorm},
    {"z = cross_entropy_grad g x t reduction=none",
     "g $T[$M] x $T[$M,17] t i64[$M]<17", "float", 8, kNorm},
    {"y = mse x t", "x $T[$M,$N] t $T[$M,$N]", "float", 8, kNorm},
    {"y = mse x t reduction=sum", "x $T[9001] t $T[9001]", "f32 f64", 8, kNorm},
    {"y = mse x t reduction=none", "x $T[$M,$N] t $T[$M,$N]", "float", 8,
     kNorm},
    {"y = bce x t", "x $T[$M]<1 t $T[$M]<1", "float", 12, kNorm},
    {"y = embedding w i", "w $T[9,$N] i i64[$M,2]<9", "float", 0, false},
    {"z = embedding_grad g i rows=9", "g $T[$M,2,$N] i i32[$M,2]<9", "float", 8,
     kNorm},
    // optimizers
    {"w = sgd w g 0.1", "w $T[$M,$N] g $T[$M,$N]", "float", 3, kNorm},
    {"w v = sgd w g v lr momentum=0.9", "w $T[$M] g $T[$M] v $T[$M] lr f32[]>0",
     "float", 4, kNorm},
    {"w m v = adamw w g m v t 0.01",
     "w $T[$M] g $T[$M] m $T[$M] v $T[$M]>0 t i64[]>0", "float", 6, kNorm},
    {"w m v = adamw w g m v 1 lr decay=0 eps=1e-3",
     "w $T[$M] g $T[$M] m $T[$M] v $T[$M]>0 lr f64[]>0", "f32 f64", 40, kNorm},
    {"a b = clip a b 1", "a $T[$M,$N] b $T[$M]", "float", 8, kNorm},
    {"a b = clip a b s", "a $T[99,98] b $T[] s f32[]>0", "f32 f64", 8, kNorm},
};

// What is not a kernel's business.
bool is_left_to_others(const Op& op) {
  static const std::set<std::string, std::less<>> names = {
      "load", "print", "save", "free", "fail", "grad"};
  return names.contains(op.name) || op.family == &kRanks;
}

constexpr int64_t kSizes[] = {1, 2, 3, 5, 8, 16, 17, 33, 40};

Names names_of_round(const std::string& dtype, uint64_t round) {
  Names names{dtype, {}};
  for (const char c : {'M', 'N', 'K'}) {
    const uint64_t word = philox::word(round, static_cast<uint64_t>(c));
    int64_t size = kSizes[word % std::size(kSizes)];
    if (round == 0) size = 1;
    if (round <= 2 && round > 0 && word % 2 == 0) size = 0;
    names.sizes[c] = size;
  }
  return names;
}

// Sizes differ from round to round, where the case has any.
uint64_t rounds_of(const KernelCase& c) {
  const std::string text = std::string(c.line) + c.operands;
  const bool sized = text.find("$M") != std::string::npos ||
                     text.find("$N") != std::string::npos ||
                     text.find("$K") != std::string::npos;
  return sized ? 6 : 1;
}

// Counts the rounds in which the line could be bound.
void check(const KernelCase& c, const std::string& dtype, Backend& cpu,
           Backend& ref) {
  int bound = 0;
  for (uint64_t round = 0; round < rounds_of(c); ++round) {
    const Names names = names_of_round(dtype, round);
    const Tensors tensors = random_tensors(c.operands, names, round * 100);
    const std::string line = fill_in(c.line, names);
    const auto results = evaluate(cpu, line, tensors);
    const bool exact = c.ulps == 0 || !is_float(*parse_dtype(dtype));
    const auto wanted =
        evaluate(ref, exact ? line : fill_in(c.line, {"f64", names.sizes}),
                 exact ? tensors : widened(tensors));
    const std::string where = line + " over " + fill_in(c.operands, names);
    if (!results.ok() || !wanted.ok()) {
      // Only sizes may be refused, and by both.
      EXPECT_FALSE(results.ok()) << where << ": " << wanted.error().message;
      EXPECT_FALSE(wanted.ok()) << where << ": " << results.error().message;
      continue;
    }
    ++bound;
    for (size_t r = 0; r < results.value().size(); ++r) {
      const Tensor& y = results.value()[r];
      const Tensor& w = wanted.value()[r];
      if (!exact) {
        EXPECT_LE(distance(y, w, c.norm), c.ulps) << where << ", result " << r;
      } else if (is_float(y.type.dtype) && !is_float(*parse_dtype(dtype))) {
        EXPECT_LE(distance(y, w, c.norm), c.ulps) << where << ", result " << r;
      } else {
        EXPECT_TRUE(same_bits(y, w)) << where << ", result " << r
                                     << ", distance " << distance(y, w, false);
      }
    }
  }
  EXPECT_GT(bound, 0) << c.line << " never bound for " << dtype;
}

void check_all(const std::string& isa) {
  const auto cpu = backend_for_test("cpu", {1, isa});
  const auto ref = backend_for_test("ref", {1, ""});
  for (const KernelCase& c : kCases) {
    for (const std::string& dtype : dtypes_of(c)) check(c, dtype, *cpu, *ref);
  }
}

TEST(KernelCases, CoverEveryOp) {
  std::set<std::string, std::less<>> covered;
  for (const KernelCase& c : kCases) {
    const std::string_view line = c.line;
    const size_t begin = line.find("= ") + 2;
    covered.emplace(line.substr(begin, line.find(' ', begin) - begin));
  }
  for (const Op& op : all_ops()) {
    if (is_left_to_others(op)) continue;
    EXPECT_TRUE(covered.contains(op.name)) << "no case for " << op.name;
  }
}

// A composite's expansion and its kernels' functions in the same dtype.
TEST(KernelCases, EveryPrimitiveHasAReferenceKernel) {
  const auto ref = backend_for_test("ref", {1, ""});
  for (const KernelCase& c : kCases) {
    for (const std::string& dtype : dtypes_of(c)) {
      const Names names = names_of_round(dtype, 5);
      const auto results = evaluate(*ref, fill_in(c.line, names),
                                    random_tensors(c.operands, names, 3));
      EXPECT_TRUE(results.ok())
          << c.line << ": " << (results.ok() ? "" : results.error().message);
    }
  }
}

class KernelGrid : public testing::TestWithParam<std::string> {};

TEST_P(KernelGrid, CpuAgreesWithReference) { check_all(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Isas, KernelGrid, testing::ValuesIn(isas_for_test()),
                         [](const auto& isa) {
                           return isa.param.empty() ? "best" : isa.param;
                         });

}  // namespace

std::span<const KernelCase> kernel_cases() { return kCases; }

}  // namespace gt
