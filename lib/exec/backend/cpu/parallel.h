// Work divided among threads by OpenMP. How it is divided never shows in a
// result: code that sums across parts makes the parts itself.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gt::exec::cpu {

// The bytes that must be touched, or about as many cycles spent, before it pays
// to wake a second thread.
inline constexpr int64_t kWorthAThread = int64_t{1} << 18;

// Calls part(begin, end) for parts that cover [0, n), on up to `threads`
// threads. If there are several, each has at least about `least` elements and
// begins at a multiple of 64.
template <typename Part>
void in_parallel(int threads, int64_t n, int64_t least, const Part& part) {
  const int64_t most = n / std::max<int64_t>(least, 1);
  const int64_t parts = std::min<int64_t>(threads, most);
  if (parts <= 1) return part(int64_t{0}, n);
  const int64_t size = ((n + parts - 1) / parts + 63) / 64 * 64;
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static)
  for (int64_t p = 0; p < parts; ++p) {
    const int64_t begin = std::min(n, p * size);
    const int64_t end = p + 1 == parts ? n : std::min(n, begin + size);
    if (begin < end) part(begin, end);
  }
}

// Copies n bytes, unless they are there already.
inline void copy_in_parallel(int threads, const void* from, void* to,
                             int64_t n) {
  if (from == to) return;
  in_parallel(threads, n, kWorthAThread, [=](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin,
                static_cast<const char*>(from) + begin,
                static_cast<size_t>(end - begin));
  });
}

// Calls part(unit) for units that are each large, without rounding to 64.
template <typename Part>
void each_in_parallel(int threads, int64_t units, int64_t cost_of_one,
                      const Part& part) {
  const int64_t most =
      units * std::max<int64_t>(cost_of_one, 1) / kWorthAThread;
  const int64_t parts = std::min({int64_t{threads}, most, units});
  if (parts <= 1) {
    for (int64_t u = 0; u < units; ++u) part(u);
    return;
  }
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static)
  for (int64_t u = 0; u < units; ++u) part(u);
}

// Returns how many workers shared_by_workers() should have for such units; each
// worker needs scratch memory.
inline int64_t workers_for(int threads, int64_t units, int64_t cost_of_one) {
  const int64_t most =
      units * std::max<int64_t>(cost_of_one, 1) / kWorthAThread;
  return std::max<int64_t>(1, std::min({int64_t{threads}, most, units}));
}

// Calls part(unit, worker) for units of differing cost. Each unit goes to the
// worker that is free first; a worker does one unit at a time.
template <typename Part>
void shared_by_workers(int64_t workers, int64_t units, const Part& part) {
  if (workers <= 1) {
    for (int64_t u = 0; u < units; ++u) part(u, int64_t{0});
    return;
  }
  std::atomic<int64_t> next{0};
#pragma omp parallel for num_threads(static_cast <int>(workers)) \
    schedule(static, 1)
  for (int64_t w = 0; w < workers; ++w) {
    for (int64_t u = next++; u < units; u = next++) part(u, w);
  }
}

// Scratch memory for each worker, aligned for packs. That of two workers is a
// page apart: a processor fetches the lines behind those that it uses as well,
// and would take them from the one that writes them.
template <typename T>
class WorkerScratch {
 public:
  void reserve(int64_t workers, int64_t elements) {
    constexpr int64_t kLine = 64 / sizeof(T);
    each_ = (elements + kLine - 1) / kLine * kLine + 64 * kLine;
    data_.resize(static_cast<size_t>(workers * each_ + kLine));
  }
  T* of(int64_t worker) {
    const auto at = reinterpret_cast<uintptr_t>(data_.data());
    return data_.data() + (64 - at % 64) % 64 / sizeof(T) + worker * each_;
  }

 private:
  int64_t each_ = 0;
  std::vector<T> data_;
};

}  // namespace gt::exec::cpu
