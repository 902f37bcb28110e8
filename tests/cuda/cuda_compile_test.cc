// NVRTC, which needs no GPU, compiles every kernel of the grid of all ops for
// GPUs of three generations, and what the kernels need of a GPU is printed.
// GT_KERNELS=WORD leaves out texts without the word, for work on some of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>

#include "exec/backend/cuda/compiler.h"
#include "gpu_case.h"
#include "kernels_grid.h"

namespace gt::exec::cuda {
namespace {

constexpr size_t kBatch = 64;  // kernels in a run of the compiler

// The kernels are shared out by their order. Each part has some of every kind,
// so one part is enough for a quick look.
constexpr size_t kParts = 8;

// The texts of all kernels of the grid, by name, and their header.
std::map<std::string, std::string> grid_texts() {
  std::map<std::string, std::string> texts;
  const char* word = std::getenv("GT_KERNELS");
  const auto add = [&](const GridLine& g) {
    TypeMap types;
    for (const auto& [name, t] : g.tensors) types[name] = t.type;
    Bound bound(g.line, types);
    if (!bound.status().ok()) return;
    const auto plan = plan_of(bound.call());
    if (!plan) return;
    for (const Step& step : plan->steps) {
      const auto* launch = std::get_if<Launch>(&step);
      if (launch == nullptr) continue;
      const std::string& text = launch->source.text;
      if (word != nullptr && text.find(word) == std::string::npos) continue;
      texts[launch->source.name] = text;
    }
  };
  for_each_grid_line(add);
  for_each_grid_line(add, long_cases());
  return texts;
}

// What the kernels of a run need, by the assembler.
struct Needs {
  size_t kernels = 0;
  int most_registers = 0;
  size_t spills = 0;
};

// Calls use(n) for each number n that is between the two texts in the log.
template <typename Use>
void each_number(const std::string& log, const std::string& before,
                 const std::string& behind, const Use& use) {
  for (size_t at = log.find(behind); at != std::string::npos;
       at = log.find(behind, at + 1)) {
    const size_t digits = log.find_last_not_of("0123456789", at - 1) + 1;
    const size_t head = digits - before.size();
    if (digits < at && digits >= before.size() &&
        log.compare(head, before.size(), before) == 0) {
      use(std::stoi(log.substr(digits, at - digits)));
    }
  }
}

void add_needs(const std::string& log, Needs& needs) {
  each_number(log, "Used ", " registers", [&](int n) {
    ++needs.kernels;
    needs.most_registers = std::max(needs.most_registers, n);
  });
  each_number(log, "", " bytes spill stores",
              [&](int n) { needs.spills += n != 0 ? 1 : 0; });
}

struct Compiled {
  std::string log;
  std::string ptx;
};

// Compiles the text; the error has the words of the compiler.
Result<Compiled> compile(const Nvrtc& nvrtc, const std::string& text,
                         const std::string& arch) {
  std::vector<const char*> texts;
  std::vector<const char*> names;
  for (const TextFile& file : text_files()) {
    const bool is_target = std::string_view(file.name) == "gpu_target.cuh";
    names.push_back(is_target ? "target.cuh" : file.name);
    texts.push_back(file.text);
  }
  nvrtcProgram program = nullptr;
  if (nvrtc.nvrtcCreateProgram(&program, text.c_str(), "grid.cu",
                               static_cast<int>(texts.size()), texts.data(),
                               names.data()) != NVRTC_SUCCESS) {
    return Error{"nvrtcCreateProgram"};
  }
  const std::string target = "--gpu-architecture=" + arch;
  std::vector<const char*> options(std::begin(kCompileOptions),
                                   std::end(kCompileOptions));
  options.push_back(target.c_str());
  options.push_back("--ptxas-options=-v");
  const nvrtcResult result = nvrtc.nvrtcCompileProgram(
      program, static_cast<int>(options.size()), options.data());
  size_t size = 0;
  (void)nvrtc.nvrtcGetProgramLogSize(program, &size);
  std::string log(size, '\0');
  if (size > 0) (void)nvrtc.nvrtcGetProgramLog(program, log.data());
  std::string ptx;
  if (result == NVRTC_SUCCESS &&
      nvrtc.nvrtcGetPTXSize(program, &size) == NVRTC_SUCCESS) {
    ptx.resize(size);
    (void)nvrtc.nvrtcGetPTX(program, ptx.data());
  }
  (void)nvrtc.nvrtcDestroyProgram(&program);
  if (result != NVRTC_SUCCESS) return Error{log};
  return Compiled{log, ptx};
}

// One part of the texts, with the kernels that tell of wrong data and that
// begin a recording.
std::map<std::string, std::string> part_of_grid(size_t part) {
  auto texts = grid_texts();
  for (const Source& source :
       {make_source("fault.cuh", "tell(a);"),
        make_items_source("fault.cuh", "tell_each(a, items);"),
        make_source("fault.cuh", "begin_recording(a);")}) {
    texts.emplace(source.name, source.text);
  }
  size_t n = 0;
  std::erase_if(texts, [&](const auto&) { return n++ % kParts != part; });
  return texts;
}

class CudaCompile : public testing::TestWithParam<const char*> {};
class CudaCompileGrid
    : public testing::TestWithParam<std::tuple<const char*, size_t>> {};

TEST_P(CudaCompileGrid, NvrtcTakesEveryKernel) {
  const auto nvrtc = nvrtc_entry_points();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  const auto [arch, part] = GetParam();
  const auto texts = part_of_grid(part);
  if (std::getenv("GT_KERNELS") == nullptr) {
    ASSERT_GT(texts.size(), 500 / kParts);
  }
  Needs needs;
  for (auto at = texts.begin(); at != texts.end();) {
    std::string text;
    for (size_t n = 0; n < kBatch && at != texts.end(); ++n, ++at) {
      text += at->second;
    }
    const auto log = compile(nvrtc.value(), text, arch);
    ASSERT_TRUE(log.ok()) << log.error().message.substr(0, 4000);
    add_needs(log.value().log, needs);
  }
  std::printf("%s: %zu kernels, at most %d registers, %zu with spills\n", arch,
              needs.kernels, needs.most_registers, needs.spills);
  EXPECT_EQ(needs.kernels, texts.size());
  EXPECT_EQ(needs.spills, 0U);
}

// The texts of the launches of a line.
std::vector<std::string> texts_of(const std::string& line,
                                  const std::string& types) {
  Bound bound(line, parse_types(types));
  if (!bound.status().ok()) return {bound.error().message};
  const auto plan = plan_of(bound.call());
  if (!plan) return {line + ": no plan"};
  std::vector<std::string> texts;
  for (const Step& step : plan->steps) {
    texts.push_back(std::get<Launch>(step).source.text);
  }
  return texts;
}

size_t count(const std::string& text, const std::string& word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + 1)) {
    ++n;
  }
  return n;
}

// Kernels that are as slow as memory load and store 16 bytes at once:
// point-wise ones, also with fused ops and with a row that is added to many;
// and those over rows, and of sums with few results, also of values that are
// computed as they are summed.
TEST_P(CudaCompile, KernelsLoadAndStorePacks) {
  const auto nvrtc = nvrtc_entry_points();
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.error().message;
  struct Case {
    const char* line;
    const char* types;
    size_t loads;
    size_t stores = 1;
  };
  for (const Case& c : {
           Case{"y = add a b", "a f32[4096] b f32[4096]", 2},
           Case{"y = mul a b", "a bf16[64,128] b bf16[128]", 2},
           Case{"y = exp a", "a f64[64,128]", 1},
           Case{"y = cast a bf16", "a f32[64,128]", 1},
           Case{"y = cast a f32", "a bf16[64,128]", 1},
           Case{"y = dropout a 0.1 7", "a bf16[64,128]", 1},
           Case{"y = softplus a", "a f32[64,128]", 1},
           Case{"y = layer_norm a", "a f32[64,768]", 6},
           Case{"y = layer_norm_grad g a", "g f32[64,768] a f32[64,768]", 6},
           Case{"y = sum a axis=0", "a bf16[256,768]", 4, 0},
           Case{"y = sum a", "a f32[65536]", 4, 0},
           Case{"y = max a axis=1", "a bf16[64,4096]", 4, 0},
           Case{"y = mse a b", "a bf16[65536] b bf16[65536]", 8, 0},
           Case{"y = cross_entropy_grad g a c",
                "g f32[] a f32[64,8192] c i64[64]", 4},
           Case{"w m v = adamw w g m v 1 0.1",
                "w f32[99] g f32[99] m f32[99] v f32[99]", 4, 3},
       }) {
    const auto texts = texts_of(c.line, c.types);
    const auto made = compile(nvrtc.value(), texts[0], GetParam());
    ASSERT_TRUE(made.ok()) << c.line << "\n" << made.error().message;
    const std::string& ptx = made.value().ptx;
    // For sm_100 NVRTC loads a pair of halves as one number.
    const size_t pairs =
        std::string_view(c.types).find("bf16") != std::string::npos
            ? count(ptx, "ld.global.u32")
            : 0;
    EXPECT_GE(count(ptx, "ld.global.v") + count(ptx, "ld.global.cs.v") + pairs,
              c.loads)
        << c.line << "\n"
        << ptx;
    EXPECT_GE(count(ptx, "st.global.v") + count(ptx, "st.global.wb.v") +
                  count(ptx, "st.global.cs.v"),
              c.stores)
        << c.line;
  }
}

const auto kGenerations = testing::Values("sm_80", "sm_90", "sm_100");

INSTANTIATE_TEST_SUITE_P(Generations, CudaCompile, kGenerations,
                         [](const auto& arch) { return arch.param; });
INSTANTIATE_TEST_SUITE_P(Generations, CudaCompileGrid,
                         testing::Combine(kGenerations,
                                          testing::Range<size_t>(0, kParts)),
                         [](const auto& of) {
                           return std::string(std::get<0>(of.param)) + "_" +
                                  std::to_string(std::get<1>(of.param));
                         });

}  // namespace
}  // namespace gt::exec::cuda
