// The peers that scripts/bench-gpu compares gt with: the driver's copy within a
// GPU, and cuBLASLt with nothing around it. Prints the seconds of each round.
//
// usage: gt_gpu_peer copy BYTES ROUNDS | matmul N ROUNDS
//
// matmul multiplies two bf16[N,N], sums in f32, and uses the way that the
// library thinks best. An error is status 2, with a message on stderr.
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "exec/backend/cuda/entry_points.h"

namespace gt::exec::cuda {
namespace {

constexpr size_t kWorkspace = size_t{32} << 20;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "gt_gpu_peer: %s\n", why.c_str());
  std::exit(2);
}

void must(const Status& s) {
  if (!s.ok()) give_up(s.error().message);
}

// A GPU with a stream; both end with the process.
class Peer {
 public:
  explicit Peer(const EntryPoints& api) : api_(api) {
    CUdevice device = 0;
    CUcontext context = nullptr;
    must(check(api_, driver().cuInit(0), "cuInit"));
    must(check(api_, driver().cuDeviceGet(&device, 0), "cuDeviceGet"));
    must(check(api_, driver().cuDevicePrimaryCtxRetain(&context, device),
               "cuDevicePrimaryCtxRetain"));
    must(check(api_, driver().cuCtxSetCurrent(context), "cuCtxSetCurrent"));
    must(check(api_, driver().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING),
               "cuStreamCreate"));
  }

  const Driver& driver() const { return api_.driver; }
  const Lt& lt() const { return api_.lt; }
  CUstream stream() const { return stream_; }

  CUdeviceptr allocate(size_t bytes) const {
    CUdeviceptr data = 0;
    must(check(api_, driver().cuMemAllocAsync(&data, bytes, stream_),
               "cuMemAllocAsync"));
    return data;
  }
  void must_copy(CUdeviceptr to, CUdeviceptr from, size_t bytes) const {
    must(check(api_, driver().cuMemcpyDtoDAsync(to, from, bytes, stream_),
               "cuMemcpyDtoDAsync"));
  }
  // Uploads bytes that fill() writes into memory that the GPU reads by itself.
  void upload(CUdeviceptr to, size_t bytes,
              const std::function<void(void* host)>& fill) const {
    void* host = nullptr;
    must(check(api_, driver().cuMemHostAlloc(&host, bytes, 0),
               "cuMemHostAlloc"));
    fill(host);
    must(check(api_, driver().cuMemcpyHtoDAsync(to, host, bytes, stream_),
               "cuMemcpyHtoDAsync"));
    finish();
    (void)driver().cuMemFreeHost(host);
  }
  void finish() const {
    must(check(api_, driver().cuStreamSynchronize(stream_),
               "cuStreamSynchronize"));
  }

  // The seconds of a round. Rounds that warm up do not count: they go on until
  // the clocks are those of a GPU at work, but are few if there are few rounds.
  double timed(int rounds, const std::function<void()>& round) const {
    using Clock = std::chrono::steady_clock;
    const auto warm = Clock::now() + std::chrono::milliseconds(500);
    for (int i = 0; i < rounds || (rounds > 10 && Clock::now() < warm); ++i) {
      round();
      if (i % 20 == 0) finish();
    }
    finish();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) round();
    finish();
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    return took.count() / rounds;
  }

 private:
  const EntryPoints& api_;
  CUstream stream_ = nullptr;
};

double copy(const Peer& peer, size_t bytes, int rounds) {
  const CUdeviceptr from = peer.allocate(bytes);
  const CUdeviceptr to = peer.allocate(bytes);
  return peer.timed(rounds, [&] { peer.must_copy(to, from, bytes); });
}

// Random factors are normally distributed, as those of randn: where bits are
// alike, a GPU draws less power and so has a faster clock.
void fill_bf16(void* host, size_t count) {
  auto* values = static_cast<uint16_t*>(host);
  uint64_t state = 1;
  const auto uniform = [&state] {  // above 0, at most 1
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (static_cast<double>(state >> 40) + 1) / (1 << 24);
  };
  for (size_t i = 0; i < count; ++i) {  // by G. Box and M. Muller
    const double z = std::sqrt(-2 * std::log(uniform())) *
                     std::cos(2 * std::numbers::pi * uniform());
    const auto bits = std::bit_cast<uint32_t>(static_cast<float>(z));
    values[i] = static_cast<uint16_t>((bits + 0x8000) >> 16);
  }
}

double matmul(const Peer& peer, uint64_t n, int rounds) {
  const Lt& lt = peer.lt();
  cublasLtHandle_t handle = nullptr;
  must(check(lt.cublasLtCreate(&handle), "cublasLtCreate"));
  cublasLtMatmulDesc_t operation = nullptr;
  must(check(
      lt.cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
      "cublasLtMatmulDescCreate"));
  cublasLtMatrixLayout_t layout = nullptr;
  must(check(lt.cublasLtMatrixLayoutCreate(&layout, CUDA_R_16BF, n, n,
                                           static_cast<int64_t>(n)),
             "cublasLtMatrixLayoutCreate"));
  cublasLtMatmulPreference_t preference = nullptr;
  must(check(lt.cublasLtMatmulPreferenceCreate(&preference),
             "cublasLtMatmulPreferenceCreate"));
  const uint64_t most = kWorkspace;
  must(check(lt.cublasLtMatmulPreferenceSetAttribute(
                 preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most,
                 sizeof most),
             "cublasLtMatmulPreferenceSetAttribute"));
  cublasLtMatmulHeuristicResult_t best{};
  int count = 0;
  must(check(lt.cublasLtMatmulAlgoGetHeuristic(handle, operation, layout,
                                               layout, layout, layout,
                                               preference, 1, &best, &count),
             "cublasLtMatmulAlgoGetHeuristic"));
  if (count == 0) give_up("cuBLASLt has no way to multiply these");

  const CUdeviceptr a = peer.allocate(n * n * 2);
  const CUdeviceptr b = peer.allocate(n * n * 2);
  const CUdeviceptr c = peer.allocate(n * n * 2);
  const CUdeviceptr workspace = peer.allocate(kWorkspace);
  for (const CUdeviceptr factor : {a, b}) {
    peer.upload(factor, n * n * 2, [n](void* host) { fill_bf16(host, n * n); });
  }
  const auto at = [](CUdeviceptr data) {
    return reinterpret_cast<void*>(data);
  };
  const float one = 1;
  const float none = 0;
  return peer.timed(rounds, [&] {
    must(check(
        lt.cublasLtMatmul(handle, operation, &one, at(a), layout, at(b), layout,
                          &none, at(c), layout, at(c), layout, &best.algo,
                          at(workspace), kWorkspace, peer.stream()),
        "cublasLtMatmul"));
  });
}

int run(const std::vector<std::string>& words) {
  if (words.size() != 3) give_up("usage: copy BYTES ROUNDS | matmul N ROUNDS");
  const auto api = entry_points();
  if (!api.ok()) give_up(api.error().message);
  const Peer peer(*api.value());
  const uint64_t size = std::strtoull(words[1].c_str(), nullptr, 10);
  const int rounds = std::atoi(words[2].c_str());
  if (size == 0 || rounds < 1) give_up("sizes and rounds are from 1 on");
  double seconds = 0;
  if (words[0] == "copy") {
    seconds = copy(peer, size, rounds);
  } else if (words[0] == "matmul") {
    seconds = matmul(peer, size, rounds);
  } else {
    give_up("'" + words[0] + "' is neither copy nor matmul");
  }
  std::printf("%.9g\n", seconds);
  // When the process ends, the driver takes everything back.
  return 0;
}

}  // namespace
}  // namespace gt::exec::cuda

int main(int argc, char** argv) {
  return gt::exec::cuda::run({argv + 1, argv + argc});
}
