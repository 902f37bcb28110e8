// The exit statuses, which are the same in all programs. A stream carries the
// status of the stages before in its last line, "#end STATUS".
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

// Returns the larger of two statuses. A stage exits with the worst of its own
// status and that of the stages before it.
constexpr Exit worst(Exit a, Exit b) {
  return static_cast<int>(a) < static_cast<int>(b) ? b : a;
}

}  // namespace gt
