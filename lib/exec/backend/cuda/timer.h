// When a stream did what it was given, measured by pairs of events between
// which the work lies. They are read later, without waiting.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "exec/backend/cuda/gpu.h"
#include "exec/memory/device.h"

namespace gt::exec::cuda {

// Events tell how much time lies between two of them, in milliseconds of a
// float. So each is measured from the one before, and only the first, which is
// waited for, by the host's clock. Where the clocks drift apart, a span is
// moved: none begins before it was given, or ends after it was seen to have.
class Timer {
 public:
  explicit Timer(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // As those of Device.
  void begin(CUstream stream);
  void end(CUstream stream);
  std::optional<Device::Span> take(bool waits);

 private:
  struct Pair {
    CUevent begin = nullptr;  // null, as the other: it could not be recorded
    CUevent end = nullptr;
    double given = 0;  // by the host's clock
  };
  CUevent record(CUstream stream);
  void drop(CUevent event);
  void start(CUstream stream);
  Device::Span measure(const Pair& pair);
  // The nanoseconds between two events that were reached; 0 if the driver does
  // not say.
  double between(CUevent begin, CUevent end) const;

  std::shared_ptr<Gpu> gpu_;
  std::deque<Pair> pairs_;
  std::vector<CUevent> free_;
  CUevent last_ = nullptr;  // the last that was measured
  double at_ = 0;           // and when it was reached, by the host's clock
};

}  // namespace gt::exec::cuda
