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
//
// Spans whose work was given to the stream as one share a pair, and its time in
// equal parts.
class Timer {
 public:
  explicit Timer(std::shared_ptr<Gpu> gpu) : gpu_(std::move(gpu)) {}
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // What the stream is given between the two is the work of so many spans.
  void begin(CUstream stream);
  void end(CUstream stream, size_t spans = 1);
  // As Device::take_span(). Of one whose end() is yet to come there is none, or
  // no time, if it waits.
  std::optional<Device::Span> take(bool waits);

 private:
  struct Pair {
    CUevent begin = nullptr;  // null, as the other: it could not be recorded
    CUevent end = nullptr;
    double given = 0;  // by the host's clock
    size_t spans = 0;  // 0 until it has ended
  };
  // What is left of a pair that was measured.
  struct Rest {
    double start = 0;
    double end = 0;
    size_t spans = 0;
  };
  CUevent record(CUstream stream);
  void drop(CUevent event);
  void start(CUstream stream);
  Rest measure(const Pair& pair);
  // The nanoseconds between two events that were reached; 0 if the driver does
  // not say.
  double between(CUevent begin, CUevent end) const;

  std::shared_ptr<Gpu> gpu_;
  std::deque<Pair> pairs_;
  Rest rest_;  // its spans are the next to be taken
  std::vector<CUevent> free_;
  CUevent last_ = nullptr;  // the last that was measured
  double at_ = 0;           // and when it was reached, by the host's clock
};

}  // namespace gt::exec::cuda
