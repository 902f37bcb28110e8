// usage: kernels_bench [-b BACKEND] [-t THREADS] [-i ISA] [LINE OPERANDS]...
//
// Time of one run of a line's kernel, the fastest of many: "y = add a b"
// "a f32[4,4] b f32[4,4]". Without lines, those below.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "exec/backend/element.h"
#include "exec/backend/philox.h"
#include "exec/backend/registry.h"
#include "ops/call.h"

namespace gt {
namespace {

constexpr const char* kLines[][2] = {
    {"y = add a b", "a f32[4,4] b f32[4,4]"},
    {"y = add a 1", "a f32[4,4]"},
    {"y = add a b", "a f32[128,256] b f32[256]"},
    {"y = add a b", "a f32[4096,1024] b f32[4096,1024]"},
    {"y = exp x", "x f32[256,256]"},
    {"y = gelu x", "x f32[256,256]"},
    {"y = relu x", "x f32[128,256]"},
    {"y = tanh x", "x f32[256,256]"},
    {"y = add a b", "a bf16[256,256] b bf16[256,256]"},
    {"y = sum x", "x f32[1024,1024]"},
    {"y = sum x axis=0", "x f32[128,256]"},
    {"y = sum x axis=0", "x f32[128,10]"},
    {"y = sum x axis=-1", "x f32[1024,1024]"},
    {"y = softmax x", "x f32[512,512]"},
    {"y = cross_entropy x t", "x f32[128,10] t i64[128]"},
    {"z = cross_entropy_grad g x t", "g f32[] x f32[128,10] t i64[128]"},
    {"y = linear x w b", "x f32[128,784] w f32[784,256] b f32[256]"},
    {"y = matmul a b ta=1", "a f32[128,784] b f32[128,256]"},
    {"y = linear x w b", "x f32[128,256] w f32[256,10] b f32[10]"},
    {"y = matmul a b", "a f32[4,4] b f32[4,4]"},
    {"y = matmul a b", "a f32[16,16] b f32[16,16]"},
    {"y = matmul a b", "a f32[32,32] b f32[32,32]"},
    {"y = matmul a b", "a f32[64,64] b f32[64,64]"},
    {"y = matmul a b", "a f32[256,256] b f32[256,256]"},
    {"y = matmul a b", "a f32[512,512] b f32[512,512]"},
    {"y = matmul a b", "a f32[1024,1024] b f32[1024,1024]"},
    {"y = matmul a b", "a f32[2048,2048] b f32[2048,2048]"},
    {"y = matmul a b", "a f64[512,512] b f64[512,512]"},
    {"y = matmul a b", "a bf16[512,512] b bf16[512,512]"},
    {"y = matmul a b tb=1", "a f32[8,128,64] b f32[8,128,64]"},
    {"w = sgd w g 0.1", "w f32[784,256] g f32[784,256]"},
    {"w m v = adamw w g m v 1 0.001",
     "w f32[784,256] g f32[784,256] m f32[784,256] v f32[784,256]"},
    {"y = transpose x", "x f32[1024,1024]"},
    {"y = embedding w i", "w f32[1000,256] i i64[512]"},
    {"z = embedding_grad g i rows=1000", "g f32[1024,256] i i64[1024]"},
    {"y = layer_norm x w b", "x f32[1024,256] w f32[256] b f32[256]"},
    {"gx gw gb = layer_norm_grad g x w",
     "g f32[1024,256] x f32[1024,256] w f32[256]"},
    {"y = gelu x", "x f32[1024,1024]"},
    {"z = gelu_grad g x", "g f32[1024,1024] x f32[1024,1024]"},
    {"o s = attention q k v causal=1 heads=4",
     "q f32[8,128,256] k f32[8,128,256] v f32[8,128,256]"},
    {"a b c = attention_grad q k v o s g causal=1 heads=4",
     "q f32[8,128,256] k f32[8,128,256] v f32[8,128,256] o f32[8,128,256] "
     "s f32[8,4,128] g f32[8,128,256]"},
    {"o s = attention q k v causal=1 heads=8",
     "q f32[1,2048,512] k f32[1,2048,512] v f32[1,2048,512]"},
    {"y = dropout x 0.1 7", "x f32[1024,1024]"},
    {"y = rope x heads=4", "x f32[32,64,128]"},
    {"a b = clip a b 1", "a f32[1024,1024] b f32[1024,1024]"},
    {"y = gather x i axis=1", "x f32[1024,1000] i i64[1024,100]"},
    {"y = cumsum x axis=1", "x f32[256,1000]"},
    {"i = argsort x", "x f32[64,1000]"},
    {"y = randn f32[1000000] 7", ""},
    {"y = rand f32[1000000] 7", ""},
};

struct Values {
  std::map<std::string, Type, std::less<>> types;
  std::map<std::string, std::vector<double>, std::less<>> data;
};

Values make_values(const std::string& operands) {
  Values values;
  for (size_t at = 0; at < operands.size();) {
    const size_t blank = operands.find(' ', at);
    const size_t end = std::min(operands.find(' ', blank + 1), operands.size());
    const std::string name = operands.substr(at, blank - at);
    const auto type = parse_type(operands.substr(blank + 1, end - blank - 1));
    GT_CHECK(type.ok());
    values.types[name] = type.value();
    auto& data = values.data[name];
    data.resize(type.value().bytes() / sizeof(double) + 8);
    for (int64_t i = 0; i < type.value().elements(); ++i) {
      exec::store_real(type.value().dtype, data.data(), i,
                       exec::philox::uniform(
                           exec::philox::word(1, static_cast<uint64_t>(i)), 8));
    }
    at = end + 1;
  }
  return values;
}

double seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

// The fastest of rounds of enough runs to be timed, over half a second.
double time_of(exec::Kernel& kernel, std::span<const void* const> in,
               std::span<void* const> out) {
  double best = 1e9;
  int64_t runs = 1;
  for (const double end = seconds() + 0.5; seconds() < end;) {
    const double start = seconds();
    for (int64_t i = 0; i < runs; ++i) GT_CHECK(kernel.run(in, out).ok());
    const double each = (seconds() - start) / static_cast<double>(runs);
    best = std::min(best, each);
    if (each * static_cast<double>(runs) < 1e-4) runs *= 2;
  }
  return best;
}

int bench(exec::Backend& backend, const std::string& text,
          const std::string& operands) {
  Values values = make_values(operands);
  Line line;
  std::vector<const Type*> types;
  Call call;
  Status s = parse_line(text, line);
  if (s.ok()) {
    for (const Operand& o : line.operands) {
      const auto it = values.types.find(o.text);
      types.push_back(it == values.types.end() ? nullptr : &it->second);
    }
    s = bind(line, types, call);
  }
  if (!s.ok()) {
    std::fprintf(stderr, "kernels_bench: %s\n", s.error().message.c_str());
    return 2;
  }
  const auto kernel = backend.prepare(call);
  if (kernel == nullptr) {
    std::printf("%-44s no kernel\n", text.c_str());
    return 0;
  }
  std::vector<const void*> in;
  for (const Argument& a : call.arguments) {
    const auto it = values.data.find(std::string(a.text));
    const void* literal = a.type.dtype == Dtype::kF64
                              ? static_cast<const void*>(&a.number.real)
                              : &a.number.integer;
    in.push_back(a.literal                 ? literal
                 : it == values.data.end() ? nullptr
                                           : it->second.data());
  }
  std::vector<void*> out;
  for (const Type& t : call.results)
    out.push_back(backend.device().allocate(t.bytes()));
  const double time = time_of(*kernel, in, out);
  const double work = flops(call);
  std::printf("%-32s %-44s %12.1f ns %9.2f Gop/s\n", text.c_str(),
              operands.substr(0, 44).c_str(), time * 1e9, work / time / 1e9);
  for (size_t r = 0; r < out.size(); ++r) {
    backend.device().release(out[r], call.results[r].bytes());
  }
  return 0;
}

int run(int argc, char** argv) {
  exec::BackendOptions options;
  std::string_view name = "cpu";
  int i = 1;
  for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
    if (argv[i][1] == 'b') name = argv[i + 1];
    if (argv[i][1] == 't') options.threads = std::atoi(argv[i + 1]);
    if (argv[i][1] == 'i') options.isa = argv[i + 1];
  }
  const auto backend = make_backend(name, options);
  if (!backend.ok()) {
    std::fprintf(stderr, "kernels_bench: %s\n",
                 backend.error().message.c_str());
    return 2;
  }
  if (i + 1 < argc) {
    for (; i + 1 < argc; i += 2) {
      if (const int rc = bench(*backend.value(), argv[i], argv[i + 1]))
        return rc;
    }
    return 0;
  }
  for (const auto& [text, operands] : kLines) {
    if (const int rc = bench(*backend.value(), text, operands)) return rc;
  }
  return 0;
}

}  // namespace
}  // namespace gt

int main(int argc, char** argv) { return gt::run(argc, argv); }
