#include "exec/backend/cuda/timer.h"

#include <algorithm>

#include "base/clock.h"

namespace gt::exec::cuda {
namespace {

double now() { return static_cast<double>(steady_ns()); }

}  // namespace

Timer::~Timer() {
  if (!gpu_->enter().ok()) return;
  for (const Pair& pair : pairs_) {
    drop(pair.begin);
    drop(pair.end);
  }
  drop(last_);
  for (CUevent event : free_) (void)gpu_->driver().cuEventDestroy(event);
}

CUevent Timer::record(CUstream stream) {
  const Driver& driver = gpu_->driver();
  CUevent event = nullptr;
  if (!free_.empty()) {
    event = free_.back();
    free_.pop_back();
  } else if (driver.cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC) !=
             CUDA_SUCCESS) {
    return nullptr;
  }
  if (driver.cuEventRecord(event, stream) == CUDA_SUCCESS) return event;
  drop(event);
  return nullptr;
}

void Timer::drop(CUevent event) {
  if (event != nullptr) free_.push_back(event);
}

// Records the first event and takes the host's time when it was reached.
void Timer::start(CUstream stream) {
  last_ = record(stream);
  if (last_ == nullptr) return;
  (void)gpu_->driver().cuEventSynchronize(last_);
  at_ = now();
}

void Timer::begin(CUstream stream) {
  if (gpu_->enter().ok() && last_ == nullptr) start(stream);
  Pair& pair = pairs_.emplace_back();
  pair.given = now();
  if (last_ != nullptr) pair.begin = record(stream);
}

void Timer::end(CUstream stream, size_t spans) {
  Pair& pair = pairs_.back();
  pair.spans = spans;
  if (pair.begin == nullptr) return;
  pair.end = record(stream);
  if (pair.end == nullptr) drop(std::exchange(pair.begin, nullptr));
}

std::optional<Device::Span> Timer::take(bool waits) {
  if (rest_.spans == 0) {
    if (pairs_.empty() || pairs_.front().spans == 0) {
      if (!waits) return std::nullopt;
      return Device::Span{static_cast<uint64_t>(at_),
                          static_cast<uint64_t>(at_)};
    }
    const Pair pair = pairs_.front();
    if (pair.end != nullptr) {
      const Driver& driver = gpu_->driver();
      const CUresult done = waits ? driver.cuEventSynchronize(pair.end)
                                  : driver.cuEventQuery(pair.end);
      if (done == CUDA_ERROR_NOT_READY) return std::nullopt;
    }
    pairs_.pop_front();
    rest_ = measure(pair);
  }
  const double start = rest_.start;
  rest_.start += (rest_.end - rest_.start) / static_cast<double>(rest_.spans--);
  return Device::Span{static_cast<uint64_t>(start),
                      static_cast<uint64_t>(rest_.start)};
}

Timer::Rest Timer::measure(const Pair& pair) {
  const double before = at_;
  double start = before;
  if (pair.end != nullptr) {
    start = std::max(before + between(last_, pair.begin), pair.given);
    at_ = start + between(pair.begin, pair.end);
    const double late = std::max(at_ - now(), 0.0);
    at_ = std::max(at_ - late, before);
    start = std::clamp(start - late, before, at_);
    drop(pair.begin);
    drop(std::exchange(last_, pair.end));
  }
  return {start, at_, pair.spans};
}

double Timer::between(CUevent begin, CUevent end) const {
  float milliseconds = 0;
  if (gpu_->driver().cuEventElapsedTime(&milliseconds, begin, end) !=
      CUDA_SUCCESS) {
    return 0;
  }
  return std::max(0.0, static_cast<double>(milliseconds) * 1e6);
}

}  // namespace gt::exec::cuda
