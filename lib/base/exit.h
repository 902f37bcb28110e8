// Exit statuses of every program (design law 11).
#pragma once

namespace gt {

enum class Exit : int {
  kDone = 0,
  kFailed = 1,        // an instruction failed, or a check says no
  kUsage = 2,         // bad usage or local I/O
  kRejected = 3,      // a program or config was rejected
  kLost = 4,          // a peer was lost, timed out, or the stream was cut short
  kInterrupted = 130  // SIGINT
};

// The larger of two statuses: what a stage reports for itself and upstream.
constexpr Exit worst(Exit a, Exit b) {
  return static_cast<int>(a) < static_cast<int>(b) ? b : a;
}

}  // namespace gt
