// Attention's kernels beyond the sizes of the grid: many tiles, ends within
// one, heads deeper than a block of threads takes at once.
#include <gtest/gtest.h>

#include "kernels_grid.h"
#include "twin_backend.h"

namespace gt::exec {
namespace {

const KernelCase kCases[] = {
    {"o l = attention q k v causal=1 heads=2 enable_gqa=1",
     "q $T[130,140] k $T[201,70] v $T[201,133]", "float", 64, true},
    {"o l = attention q k v m heads=3",
     "q $T[2,1,65,24] k $T[3,129,24] v $T[2,3,129,15] m bool[2,1,3,65,129]",
     "float", 64, true},
    {"o l = attention q k v m causal=1 enable_gqa=1",
     "q $T[2,4,150,9] k $T[2,150,9] v $T[2,2,150,9] m $T[4,1,150]", "float", 64,
     true},
    {"o l = attention q k v causal=1 part=0,128,0/1,192,64",
     "q $T[1,64,64] k $T[192,64] v $T[1,192,64]", "float", 64, true},
    {"o = attention q k v", "q $T[3,0] k $T[5,0] v $T[5,4]", "float", 64, true},
    {"o l = attention q k v", "q $T[3,4] k $T[5,4] v $T[5,0]", "float", 64,
     true},
    {"o l = attention q k v m", "q $T[2,70,4] k $T[0,4] v $T[0,7] m bool[70,0]",
     "float", 64, true},
    {"gq gk gv = attention_grad q k v o l g e m causal=1 heads=2 scale=0.05",
     "q $T[130,140] k $T[201,140] v $T[201,266] o $T[130,266] l $L[2,130]>0 "
     "g $T[130,266] e $L[2,130] m bool[2,130,201]",
     "float", 128, true},
    {"gq gk gv = attention_grad q k v o l g e m scale=0.05",
     "q $T[2,3,70,33] k $T[129,33] v $T[3,129,17] o $T[2,3,70,17] "
     "l $L[2,3,70]>0 g $T[2,3,70,17] e $L[2,3,70] "
     "m $T[3,1,129]",
     "float", 128, true},
    {"gq gk gv = attention_grad q k v o l g causal=1 heads=1 scale=0.05 "
     "part=64,0/192,64",
     "q $T[64,64] k $T[192,64] v $T[192,64] o $T[64,64] l $L[1,64]>0 "
     "g $T[64,64]",
     "float", 128, true},
    {"gq gk gv = attention_grad q k v o l g",
     "q $T[2,0,4] k $T[2,9,4] v $T[2,9,4] o $T[2,0,4] l $L[2,0] g $T[2,0,4]",
     "float", 64, true},
};

// The kernels of all cases are compiled in one run.
template <typename Use>
void for_each_case_of(const Use& use) {
  for (const KernelCase& c : kCases) {
    for (const std::string& dtype : dtypes_of(c)) use(c, dtype);
  }
}

TEST(CudaAttention, AgreesWithTheReferenceInManyTiles) {
  TwinKernels kernels;
  const auto collecting = make_collecting_backend(kernels);
  const auto twin = make_twin_backend(kernels);
  const auto ref = backend_for_test("ref", {1, ""});
  for_each_case_of([&](const KernelCase& c, const std::string& dtype) {
    const Names names{dtype, {}};
    (void)evaluate(*collecting, fill_in(c.line, names),
                   random_tensors(c.operands, names, 0));
  });
  for (const bool backwards : {false, true}) {
    run_backwards(backwards);
    for_each_case_of([&](const KernelCase& c, const std::string& dtype) {
      check_case(c, dtype, *twin, *ref);
    });
  }
  run_backwards(false);
}

// A row's bits do not depend on the rows that it is computed with.
TEST(CudaAttention, RowsHaveTheBitsThatTheyHaveInTheWhole) {
  TwinKernels kernels;
  const auto twin = make_twin_backend(kernels);
  for (const char* dtype : {"f32", "bf16", "f64"}) {
    Tensors x = random_tensors("q $T[150,16] k $T[150,16] v $T[150,24]",
                               {dtype, {}}, 3);
    const auto all = evaluate(*twin, "o l = attention q k v causal=1", x);
    ASSERT_TRUE(all.ok());
    const size_t size = size_of(x.at("q").type.dtype);
    Tensor part(parse_type(std::string(dtype) + "[37,16]").value());
    std::copy_n(x.at("q").data.begin() + 70 * 16 * size, 37 * 16 * size,
                part.data.begin());
    x["q"] = part;
    const auto some =
        evaluate(*twin, "o l = attention q k v causal=1 part=70,0/150,24", x);
    ASSERT_TRUE(some.ok()) << some.error().message;
    EXPECT_TRUE(std::equal(some.value()[0].data.begin(),
                           some.value()[0].data.begin() + 37 * 24 * size,
                           all.value()[0].data.begin() + 70 * 24 * size))
        << dtype;
  }
}

// Memory beside the operands and results grows with the tokens.
TEST(CudaAttention, MemoryIsLinearInTheTokens) {
  const std::string line = "gq gk gv = attention_grad q k v o l g causal=1";
  for (const int64_t n : {1000, 100000}) {
    const std::string x = "f32[" + std::to_string(n) + ",64]";
    const Type type = parse_type(x).value();
    TypeMap types{
        {"q", type}, {"k", type}, {"v", type}, {"o", type}, {"g", type}};
    types["l"] = parse_type("f32[" + std::to_string(n) + "]").value();
    Bound bound(line, types);
    ASSERT_TRUE(bound.status().ok()) << bound.status().error().message;
    const auto plan = cuda::plan_of(bound.call());
    ASSERT_TRUE(plan.has_value());
    size_t bytes = 0;
    for (const size_t piece : plan->scratch) bytes += piece;
    EXPECT_LE(bytes, static_cast<size_t>(n) * 4);
  }
}

}  // namespace
}  // namespace gt::exec
