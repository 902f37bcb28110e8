// The table of all loops (loops.h) of one instruction set. Only the sources
// that are compiled for an instruction set include it: see pack.h.
#pragma once

#include "exec/backend/cpu/attention_grad_loops.h"
#include "exec/backend/cpu/attention_loops.h"
#include "exec/backend/cpu/convert_loops.h"
#include "exec/backend/cpu/gemm_loops.h"
#include "exec/backend/cpu/network_loops.h"
#include "exec/backend/cpu/norm_loops.h"
#include "exec/backend/cpu/pointwise_loops.h"
#include "exec/backend/cpu/pool_loops.h"
#include "exec/backend/cpu/position_loops.h"
#include "exec/backend/cpu/random_loops.h"
#include "exec/backend/cpu/whole_loops.h"

namespace gt::exec::cpu::GT_ISA {
namespace {

template <typename T>
constexpr FloatLoops<T> kFloatLoops = {
    .reductions = kReductions<T>,
    .softmax = softmax<T>,
    .log_softmax = log_softmax<T>,
    .softmax_grad = softmax_grad<T>,
    .log_softmax_grad = log_softmax_grad<T>,
    .exp_sum = exp_sum<T>,
    .exp_below_sum = exp_below_sum<T>,
    .exp_columns = exp_columns<T>,
    .softmax_scaled = softmax_scaled<T>,
    .square_sum = reduce_row<Sum, T, Square>,
    .mse = mse<T>,
    .huber = huber<T>,
    .moments = moments<T>,
    .spread = spread<T>,
    .column_moments = column_moments<T>,
    .column_spread = column_spread<T>,
    .product = product<T>,
    .prod_grad = prod_grad<T>,
    .sgd = sgd<T>,
    .adamw = adamw<T>,
    .scale = scale<T>,
    .add_to = add_to<T>,
    .layer_norm = norm<true, T>,
    .rms_norm = norm<false, T>,
    .layer_norm_grad = norm_grad<true, T>,
    .rms_norm_grad = norm_grad<false, T>,
    .rope = rope<T>,
    .rope_interleaved = rope_interleaved<T>,
    .drop = drop<T>,
    .pool_largest = pool_largest<T>,
    .attention = attention<T>,
    .attention_grad = attention_grad<T>,
    .gemm = gemm<T>,
};

template <typename T>
constexpr WholeLoops<T> kWholeLoops = {
    .reductions = kWholeReductions<T>,
    .product = whole_product<T>,
};

#define GT_STRING(x) GT_STRING_OF(x)
#define GT_STRING_OF(x) #x

constexpr Loops kLoops = {
    .isa = &GT_STRING(GT_ISA)[3],  // without the prefix "on_"
    .pointwise = kPointwise,
    .pointwise_count = std::size(kPointwise),
    .f32 = kFloatLoops<float>,
    .f64 = kFloatLoops<double>,
    .i64 = kWholeLoops<int64_t>,
    .i32 = kWholeLoops<int32_t>,
    .u8 = kWholeLoops<uint8_t>,
    .conversions = kConversions.at,
    .any_beyond_f64 = any_beyond_f64,
    .uniforms = uniforms,
    .words = words,
    .reaching = reaching,
    .normals = normals,
};

}  // namespace
}  // namespace gt::exec::cpu::GT_ISA
