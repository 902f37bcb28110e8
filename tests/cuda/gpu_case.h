// A case of the grid with the bounds that a GPU's kernels are held to.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "kernels_grid.h"
#include "share.h"

namespace gt::exec {

// A running sum has twice the digits of f64, where the reference has 64 bits;
// all other ops are as near as on the host.
inline KernelCase gpu_case(const KernelCase& c) {
  KernelCase own = c;
  if (op_of(c.line) == "cumsum") own.ulps = 1;
  return own;
}

// The run's share of these cases, each of which counts once for each of its
// dtypes.
inline std::vector<KernelCase> share_of(const std::vector<KernelCase>& cases) {
  const Share share = share_of_run();
  size_t number = 0;
  std::vector<KernelCase> out;
  for (KernelCase c : cases) {
    for (const std::string& dtype : dtypes_of(c)) {
      if (!share.has(number++)) continue;
      c.dtypes = dtype;
      out.push_back(c);
    }
  }
  return out;
}

inline constexpr std::array<const char*, 4> kFloats = {"f32", "f64", "bf16",
                                                       "f16"};

// Cases longer than those of the grid: whole packs and partial ones, a team of
// each size, and sums of several launches.
inline std::vector<KernelCase> long_cases() {
  const auto of = [](std::string line, std::string operands, double ulps) {
    // Where no operand has the case's dtype, one dtype is enough.
    const char* dtypes =
        operands.find("$T") == std::string::npos ? "f32" : "float";
    return KernelCase{std::move(line), std::move(operands), dtypes, ulps, true};
  };
  return {
      of("y = layer_norm x w b", "x $T[35,768] w $T[768] b $T[768]", 16),
      of("y = layer_norm x w", "x $T[3,1001] w $T[1001]", 16),
      of("y = rms_norm x w", "x $T[5,1536] w $T[1536]", 16),
      of("y = layer_norm x", "x $T[2,4096]", 16),
      of("y = layer_norm x", "x $T[2,20000]", 32),
      of("gx gw gb = layer_norm_grad g x w",
         "g $T[1030,64] x $T[1030,64] w $T[64]", 64),
      of("gx gw gb = layer_norm_grad g x w",
         "g $T[37,768] x $T[37,768] w $T[768]", 64),
      of("gx gw = layer_norm_grad g x w",
         "g $T[530,2050] x $T[530,2050] w $T[2050]", 64),
      of("gx = layer_norm_grad g x", "g $T[2,12000] x $T[2,12000]", 64),
      of("gx gw = rms_norm_grad g x w", "g $T[5,1000] x $T[5,1000] w $T[1000]",
         64),
      of("y = sum x axis=0", "x $T[3000,72]", 8),
      of("y = sum x axis=0", "x $T[2100,7]", 8),
      of("y = sum x axis=0,1", "x $T[3,1100,24]", 8),
      of("y = sum x axis=1", "x $T[3,40,2,24]", 8),
      of("y = sum x axis=0,2", "x $T[7,5,6,8]", 8),
      of("y = mean x axis=0", "x $T[600,300]", 8),
      of("y = max x axis=0", "x $T[1500,20]", 0),
      of("y = argmax x axis=0", "x $T[1500,20]", 0),
      of("y = cumsum x axis=0", "x $T[300000]", 1),
      of("y = cumsum x axis=1", "x $T[3,9001]", 1),
      of("y = cumsum x axis=1", "x $T[40,64]", 1),
      of("y = cumsum x axis=0", "x $T[9000,3]", 1),
      of("y = cumsum x axis=1", "x $T[2,300,5]", 1),
      of("y = cumsum x axis=0", "x i64[20001]", 0),
      of("y = cumsum x axis=0", "x i32[20004]", 0),
      of("y = cumsum x axis=1", "x bool[3,9001]", 0),
      of("y = cumsum x axis=0", "x i64[9000,3]", 0),
      of("y = cross_entropy x t", "x $T[3,9000] t i64[3]<9000", 8),
      of("y = cross_entropy x t", "x $T[3,5001] t i64[3]<5001", 8),
      of("z = cross_entropy_grad g x t", "g $T[] x $T[3,9000] t i64[3]<9000",
         8),
      of("z = cross_entropy_grad g x t", "g $T[] x $T[3,5001] t i64[3]<5001",
         8),
      of("y = softmax x", "x $T[3,9000]", 8),
      of("y = softmax x axis=0", "x $T[2100,3]", 8),
      of("y = softmax x", "x $T[35,768]", 8),
      of("y = softmax x", "x $T[9,1201]", 8),
      of("y = softmax x", "x $T[2,20000]", 8),
      of("y = log_softmax x", "x $T[9,100]", 8),
      of("y = log_softmax x", "x $T[2,20001]", 8),
      of("z = softmax_grad g y", "g $T[35,768] y $T[35,768]<1", 16),
      of("z = softmax_grad g y", "g $T[9,1201] y $T[9,1201]<1", 16),
      of("z = softmax_grad g y", "g $T[2,20000] y $T[2,20000]<1", 64),
      of("z = log_softmax_grad g y", "g $T[9,100] y $T[9,100]", 16),
      of("z = log_softmax_grad g y", "g $T[3,9000] y $T[3,9000]", 32),
      of("y = cross_entropy x t", "x $T[35,768] t i64[35]<768", 8),
      of("y = cross_entropy x t reduction=none", "x $T[2,20000] t i64[2]<20000",
         8),
      of("z = cross_entropy_grad g x t reduction=none",
         "g $T[35] x $T[35,1000] t i64[35]<1000", 8),
      of("z = cross_entropy_grad g x t", "g $T[] x $T[2,20000] t i64[2]<20000",
         8),
      of("y = log_softmax x", "x $T[3,5001]", 8),
      of("z = embedding_grad g i rows=50", "g $T[300,96] i i64[300]<50", 8),
      of("z = embedding_grad g i rows=5", "g $T[300,7] i i64[300]<5", 8),
      of("w m v = adamw w g m v t 0.01",
         "w $T[5003] g $T[5003] m $T[5003] v $T[5003]>0 t i64[]>0", 6),
  };
}

}  // namespace gt::exec
