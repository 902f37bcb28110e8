// What libtorch takes for chained adds of 4x4, eagerly in this process, as in
// client_peer.cc: libtorch_peer N prints seconds an op.
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main(int, char** argv) {
  const int n = std::atoi(argv[1]);
  torch::set_num_threads(1);
  torch::Tensor x = torch::zeros({4, 4});
  const torch::Tensor y = torch::ones({4, 4});
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < n; ++i) x = x + y;
  const float last = x[0][0].item<float>();
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  if (last != static_cast<float>(n)) std::abort();
  std::fprintf(stderr, "%.9g\n", took.count() / n);
}
