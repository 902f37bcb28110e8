// Measures when a stream did the work it was given, with pairs of events around
// the work. The events are read later, without waiting.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "exec/backend/cuda/gpu.h"
#include "exec/memory/device.h"

namespace gt::exec::cuda {

// Events tell the time between two of them, as a float of milliseconds. So each
// event is measured from the one before it, and only the first, for which the
// timer waits, by the host's clock. A span is shifted where the two clocks
// drift apart, so that it does not begin before its work was given to the
// stream, nor end after the host saw it end.
//
// Spans whose work was given to the stream as one piece share a pair of events,
// and divide its time equally.
class Timer {
 public:
  explicit Timer(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // begin() and end() enclose the work of `spans` spans, as it is given to the
  // stream.
  void begin(CUstream stream);
  void end(CUstream stream, size_t spans = 1);
  // Same contract as Device::take_span(). If end() was not called yet for the
  // oldest span, this returns none or, with `waits`, a span of zero length.
  std::optional<Device::Span> take(bool waits);

 private:
  struct Pair {
    // Both events are null if either of them could not be recorded.
    CUevent begin = nullptr;
    CUevent end = nullptr;
    // When the work was given to the stream, by the host's clock.
    double given = 0;
    size_t spans = 0;  // 0 until end() was called
  };
  // The remaining spans of a pair that was measured.
  struct Rest {
    double start = 0;
    double end = 0;
    size_t spans = 0;
  };
  CUevent record(CUstream stream);
  void drop(CUevent event);
  void start(CUstream stream);
  Rest measure(const Pair& pair);
  // Returns the nanoseconds between two events that were reached; 0 if the
  // driver cannot tell.
  double between(CUevent begin, CUevent end) const;

  std::shared_ptr<Gpu> gpu_;
  std::deque<Pair> pairs_;
  // Its spans are the next that take() returns.
  Rest rest_;
  std::vector<CUevent> free_;
  CUevent last_ = nullptr;  // the last event that was measured
  double at_ = 0;           // when last_ was reached, by the host's clock
};

}  // namespace gt::exec::cuda
