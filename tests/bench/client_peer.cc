// What the rows of cpp.py run of libgt: client_peer KIND N [LOG] prints what it
// measured, and writes the stream to LOG, too.
#include <gt/gt.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Chained adds of 4x4: seconds an op, until the last value is there.
double chain(int n) {
  gt::Tensor x = gt::zeros({4, 4});
  const gt::Tensor y = gt::ones({4, 4});
  x(0, 0).item();  // the programs have started
  const double start = now();
  for (int i = 0; i < n; ++i) x = x + y;
  const float last = x(0, 0).item();
  const double took = now() - start;
  if (last != static_cast<float>(n)) std::abort();
  return took / n;
}

// The same lines, to a gt-emit whose output nobody reads: lines a second.
double lines(int n) {
  gt::Tensor x = gt::zeros({4, 4});
  const gt::Tensor y = gt::ones({4, 4});
  const double start = now();
  for (int i = 0; i < n; ++i) x = x + y;
  gt::close();
  return n / (now() - start);
}

// A value that is there is asked for: seconds.
double trip(int n) {
  const gt::Tensor x = gt::ones({});
  x.item();
  const double start = now();
  for (int i = 0; i < n; ++i) {
    if (x.item() != 1) std::abort();
  }
  return (now() - start) / n;
}

// 64 MiB from memory, and back: bytes a second, both ways counted.
double blob(int n) {
  std::vector<float> there(16 << 20, 1.5F);
  std::vector<float> back(there.size());
  gt::ones({}).item();
  const double start = now();
  for (int i = 0; i < n; ++i) {
    const gt::Tensor x =
        gt::from_blob(there.data(), {static_cast<int64_t>(there.size())});
    x.copy_to(back.data());
  }
  const double took = now() - start;
  if (std::memcmp(back.data(), there.data(), there.size() * 4) != 0) {
    std::abort();
  }
  return 2.0 * n * static_cast<double>(there.size() * 4) / took;
}

}  // namespace

int main(int, char** argv) {
  const std::string kind = argv[1];
  const int n = std::atoi(argv[2]);
  if (argv[3] != nullptr) gt::log(argv[3]);
  const double got = kind == "chain"   ? chain(n)
                     : kind == "lines" ? lines(n)
                     : kind == "trip"  ? trip(n)
                                       : blob(n);
  std::fprintf(stderr, "%.9g\n", got);
}
