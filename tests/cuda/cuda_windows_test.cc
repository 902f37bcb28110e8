// Convolutions and pools beyond the sizes of the grid: each dimension of a
// product has several tiles.
#include <gtest/gtest.h>

#include <vector>

#include "gpu_case.h"
#include "kernels_grid.h"
#include "twin_backend.h"

namespace gt::exec {
namespace {

const std::vector<KernelCase> kWindowCases = {
    {"y = conv2d x w b stride=2,1 padding=1,2 dilation=1,2 groups=2",
     "x $T[3,18,17,15] w $T[134,9,3,2] b $T[134]", "float", 16, true},
    {"z = conv2d_input_grad g w output_size=17,15 stride=2,1 padding=1,2 "
     "dilation=1,2 groups=2",
     "g $T[3,18,9,17] w $T[18,66,3,2]", "float", 16, true},
    {"z = conv2d_weight_grad g x kernel_size=3,2 stride=2,1 padding=1,2 "
     "dilation=1,2 groups=2",
     "g $T[3,134,9,17] x $T[3,26,17,15]", "float", 64, true},
    {"y = conv2d x w", "x $T[2,0,5,5] w $T[3,0,2,2]", "float", 16, true},
    {"z = conv2d_weight_grad g x kernel_size=2", "g $T[0,3,4,4] x $T[0,2,5,5]",
     "float", 16, true},
    {"z = max_pool2d_grad g x kernel_size=3 stride=1 padding=1 dilation=1",
     "g $T[5,7,40,33] x $T[5,7,40,33]", "float", 16, true},
    {"z = avg_pool2d_grad g output_size=40,33 kernel_size=3,2 stride=1 "
     "padding=1 count_include_pad=0",
     "g $T[5,7,40,34]", "float", 16, true},
};

TEST(CudaWindows, AgreeWithTheReferenceInManyTiles) {
  TwinKernels kernels;
  const auto twin = make_twin_backend(kernels);
  const auto ref = backend_for_test("ref", {1, ""});
  for (const bool backwards : {false, true}) {
    run_backwards(backwards);
    for_each_case(
        [&](const KernelCase& c, const std::string& dtype) {
          check_case(c, dtype, *twin, *ref);
        },
        share_of(kWindowCases));
  }
  run_backwards(false);
}

}  // namespace
}  // namespace gt::exec
