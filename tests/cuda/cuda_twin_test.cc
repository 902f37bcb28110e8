// The kernels of the CUDA backend, compiled for the host, against the
// reference, over the grid of all ops. A pass says that the kernels' texts
// compute what they should; what a GPU does is not tested here.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gpu_case.h"
#include "kernels_grid.h"
#include "kernels_wrong.h"
#include "twin_backend.h"

extern "C" int gt_twin_backwards;
int gt_twin_backwards = 0;

namespace gt::exec {
namespace {

// Once for all tests: each kernel that any line of the grid has.
TwinKernels& kernels() {
  static TwinKernels instance = [] {
    TwinKernels k;
    const auto collecting = make_collecting_backend(k);
    for_each_grid_line([&](const GridLine& g) {
      (void)evaluate(*collecting, g.line, g.tensors);
    });
    return k;
  }();
  return instance;
}

TEST(CudaTwin, AgreesWithTheReference) {
  const auto twin = make_twin_backend(kernels());
  const auto ref = backend_for_test("ref", {1, ""});
  for (const bool backwards : {false, true}) {
    gt_twin_backwards = backwards ? 1 : 0;
    for_each_case([&](const KernelCase& c, const std::string& dtype) {
      check_case(gpu_case(c), dtype, *twin, *ref);
    });
  }
}

// Every primitive has a plan, whatever its dtypes: there is no expansion that
// could be run in its place.
TEST(CudaTwin, EveryPrimitiveHasAPlan) {
  std::set<std::string> missing;
  for_each_grid_line([&](const GridLine& g) {
    TypeMap types;
    for (const auto& [name, t] : g.tensors) types[name] = t.type;
    Bound bound(g.line, types);
    if (!bound.status().ok()) return;
    const Op& op = *bound.call().op;
    if (!op.is_primitive() || op.row->alias) return;
    if (!cuda::plan_of(bound.call())) missing.insert(op.name + ": " + g.line);
  });
  EXPECT_EQ(missing, std::set<std::string>());
}

TEST(CudaTwin, NamesWhatIsWrongWithTheData) {
  check_wrong(*make_twin_backend(kernels()), "twin");
}

TEST(CudaTwin, ResultsMayReplaceOperandsWhereTheKernelSaysSo) {
  const auto twin = make_twin_backend(kernels());
  int replaced = 0;
  for_each_grid_line([&](const GridLine& g) {
    replaced += check_in_place(*twin, g.line, g.tensors);
  });
  EXPECT_GT(replaced, 100);
}

}  // namespace
}  // namespace gt::exec
