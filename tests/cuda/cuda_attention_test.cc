// The kernels of attention beyond the sizes of the grid: many tiles, ends
// within a tile, and heads that are deeper than a block of threads takes at
// once.
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "gpu_case.h"
#include "kernels_grid.h"
#include "twin_backend.h"

namespace gt::exec {
namespace {

const std::vector<KernelCase> kCases = {
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

TEST(CudaAttention, AgreesWithTheReferenceInManyTiles) {
  TwinKernels kernels;
  const auto collecting = make_collecting_backend(kernels);
  const auto twin = make_twin_backend(kernels);
  const auto ref = backend_for_test("ref", {1, ""});
  const auto cases = share_of(kCases);
  // The kernels of all cases are compiled in one run of the compiler.
  for_each_grid_line(
      [&](const GridLine& g) {
        (void)evaluate(*collecting, g.line, g.tensors);
      },
      cases);
  for (const bool backwards : {false, true}) {
    run_backwards(backwards);
    for_each_case(
        [&](const KernelCase& c, const std::string& dtype) {
          check_case(c, dtype, *twin, *ref);
        },
        cases);
  }
  run_backwards(false);
}

// The bits of a row do not depend on the rows that are computed with it.
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

// The memory beside operands and results grows linearly with the tokens.
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

// The plan of a line; aborts if there is none.
cuda::Plan plan_of_line(const std::string& line, const std::string& operands) {
  TypeMap types;
  std::istringstream words(operands);
  for (std::string name, type; words >> name >> type;) {
    types[name] = parse_type(type).value();
  }
  Bound bound(line, types);
  if (!bound.status().ok()) {
    ADD_FAILURE() << line << ": " << bound.status().error().message;
    return {};
  }
  return cuda::plan_of(bound.call()).value();
}

using cuda::AttentionTask;

TEST(CudaAttention, ALibraryIsAskedForTheFormsThatItHas) {
  using Sees = AttentionTask::Sees;
  struct Asked {
    const char* line;
    const char* operands;
    std::array<int64_t, 7> sizes;  // batch heads group rows columns depth width
    bool beside;
    Sees sees;
    double scale;
  };
  const Asked cases[] = {
      {"o = attention q k v",
       "q bf16[64,64] k bf16[64,64] v bf16[64,64]",
       {1, 1, 1, 64, 64, 64, 64},
       false,
       Sees::kAll,
       0.125},
      {"o l = attention q k v causal=1 heads=12",
       "q f16[16,1024,768] k f16[16,1024,768] v f16[16,1024,768]",
       {16, 12, 1, 1024, 1024, 64, 64},
       true,
       Sees::kFromFirst,
       0.125},
      {"o l = attention q k v scale=0.5",
       "q f16[2,3,5,70,8] k f16[2,3,5,90,8] v f16[2,3,5,90,128]",
       {6, 5, 1, 70, 90, 8, 128},
       false,
       Sees::kAll,
       0.5},
      {"o l = attention q k v heads=8 enable_gqa=1 scale=1",
       "q bf16[3,80,128] k bf16[3,80,32] v bf16[3,80,48]",
       {3, 8, 4, 80, 80, 16, 24},
       true,
       Sees::kAll,
       1},
      {"o l = attention q k v causal=1 enable_gqa=1 scale=1",
       "q bf16[3,8,80,16] k bf16[3,2,80,16] v bf16[3,2,80,24]",
       {3, 8, 4, 80, 80, 16, 24},
       false,
       Sees::kFromFirst,
       1},
      // These are the last 64 rows of 192, and then the first 64.
      {"o l = attention q k v causal=1 part=0,128,0/1,192,64",
       "q f16[1,64,64] k f16[192,64] v f16[1,192,64]",
       {1, 1, 1, 64, 192, 64, 64},
       false,
       Sees::kFromLast,
       0.125},
      {"o l = attention q k v causal=1 part=0,0,0/1,192,64",
       "q f16[1,64,64] k f16[192,64] v f16[1,192,64]",
       {1, 1, 1, 64, 192, 64, 64},
       false,
       Sees::kFromFirst,
       0.125},
      {"gq gk gv = attention_grad q k v o l g causal=1 heads=12 scale=0.125",
       "q bf16[16,1024,768] k bf16[16,1024,768] v bf16[16,1024,768] "
       "o bf16[16,1024,768] l f32[16,12,1024] g bf16[16,1024,768]",
       {16, 12, 1, 1024, 1024, 64, 64},
       true,
       Sees::kFromFirst,
       0.125},
  };
  for (const Asked& c : cases) {
    const cuda::Plan plan = plan_of_line(c.line, c.operands);
    EXPECT_FALSE(plan.steps.empty()) << c.line;
    ASSERT_TRUE(plan.attention.has_value()) << c.line;
    const AttentionTask& t = *plan.attention;
    EXPECT_EQ((std::array{t.batch, t.heads, t.group, t.rows, t.columns, t.depth,
                          t.width}),
              c.sizes)
        << c.line;
    EXPECT_EQ(t.beside, c.beside) << c.line;
    EXPECT_EQ(t.sees, c.sees) << c.line;
    EXPECT_EQ(t.scale, c.scale) << c.line;
    const bool backwards = std::string_view(c.line).starts_with("gq");
    EXPECT_EQ(t.backwards, backwards) << c.line;
    EXPECT_EQ(t.slots[AttentionTask::kGv].home == cuda::Slot::Home::kResult,
              backwards)
        << c.line;
    EXPECT_EQ(t.slots[AttentionTask::kLse].home == cuda::Slot::Home::kNone,
              std::string_view(c.line).starts_with("o ="))
        << c.line;
  }
}

TEST(CudaAttention, ALibraryIsNotAskedForOtherForms) {
  const std::pair<const char*, const char*> cases[] = {
      {"o = attention q k v", "q f32[64,64] k f32[64,64] v f32[64,64]"},
      {"o = attention q k v m",
       "q f16[64,64] k f16[64,64] v f16[64,64] m bool[64,64]"},
      {"o = attention q k v", "q f16[63,64] k f16[64,64] v f16[64,64]"},
      {"o = attention q k v", "q f16[64,64] k f16[63,64] v f16[63,64]"},
      {"o = attention q k v", "q f16[64,12] k f16[64,12] v f16[64,64]"},
      {"o = attention q k v", "q f16[64,8] k f16[64,8] v f16[64,12]"},
      {"o = attention q k v", "q f16[64,136] k f16[64,136] v f16[64,64]"},
      {"o = attention q k v", "q f16[0,64,8] k f16[0,64,8] v f16[0,64,8]"},
      {"o = attention q k v", "q f16[2,64,8] k f16[64,8] v f16[2,64,8]"},
      {"o = attention q k v heads=2",
       "q f16[1,64,16] k f16[3,64,16] v f16[3,64,16]"},
      {"o = attention q k v causal=1 part=0,64,0/1,192,64",
       "q f16[1,64,64] k f16[192,64] v f16[1,192,64]"},
      {"gq gk gv = attention_grad q k v o l g e",
       "q f16[64,8] k f16[64,8] v f16[64,8] o f16[64,8] l f32[64] g f16[64,8] "
       "e f32[64]"},
      {"gq gk gv = attention_grad q k v o l g e m",
       "q f16[64,8] k f16[64,8] v f16[64,8] o f16[64,8] l f32[64] g f16[64,8] "
       "e f32[64] m f16[64,64]"},
  };
  for (const auto& [line, operands] : cases) {
    EXPECT_FALSE(plan_of_line(line, operands).attention.has_value())
        << line << ", " << operands;
  }
}

TEST(CudaAttention, ALibraryIsToldWhereHeadsLie) {
  AttentionTask task;
  EXPECT_EQ(task.strides(3, 70, 8), (std::array<int64_t, 4>{1680, 560, 8, 1}));
  task.beside = true;
  EXPECT_EQ(task.strides(3, 70, 8), (std::array<int64_t, 4>{1680, 8, 24, 1}));
}

}  // namespace
}  // namespace gt::exec
