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
    run_backwards(backwards);
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

// Both give the same bits for each line.
void expect_same(const char* operands,
                 std::initializer_list<const char*> lines) {
  const auto twin = make_twin_backend(kernels());
  const auto ref = backend_for_test("ref", {1, ""});
  const Tensors tensors = random_tensors(operands, {"f32", {}}, 9);
  for (const char* line : lines) {
    const auto y = evaluate(*twin, line, tensors);
    const auto w = evaluate(*ref, line, tensors);
    ASSERT_TRUE(y.ok() && w.ok()) << line;
    for (size_t r = 0; r < y.value().size(); ++r) {
      EXPECT_TRUE(same_bits(y.value()[r], w.value()[r])) << line;
    }
  }
}

// A part of a whole has what stands there in the whole.
TEST(CudaTwin, PartsAreThoseOfTheWhole) {
  expect_same(
      "", {"y = rand f32[3,4] 7 part=2,5/9,10",
           "y = randn bf16[3,4] 7 part=2,5/9,10",
           "y = arange i64[5] 3 -2 part=4/11", "y = eye f32[3,4] part=2,1/9,10",
           "y = randperm i64[5] 3 part=6/17", "y = full u8[3,2] 7 part=0,2/3,4",
           "y = randn f64[2,3,4] 1 part=1,0,3/4,3,9"});
}

// More keys than a block has threads, many of them equal, and many indices of
// one place, whose values are added or put there in their order.
TEST(CudaTwin, LongLinesAreSortedAndCollectedInOrder) {
  expect_same(
      "x i64[5000]<70 f f32[3,700] i i64[3000]<7 g i64[3000,3] "
      "t i64[9,3] s i64[3000,3] j i64[3000,3]<9",
      {"y = argsort x", "y = argsort x descending=1", "y = argsort f axis=1",
       "y = argsort f axis=0", "y = randperm i64[4097] 5",
       "v i = sort f axis=-1", "v i = topk f size=300",
       "z = scatter_add t j s axis=0", "z = scatter t j s axis=0",
       "y = cumsum x axis=0", "y = argmax f axis=1", "y = sum x"});
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
