// Signs of life while a thread is at something long.
#pragma once

#include <functional>
#include <thread>

namespace gt::net {

// While a Pulse exists, a thread of its own calls `beat` every 50 ms, which
// sends the beats that are due. The thread that made the pulse touches nothing
// that `beat` does until the pulse is destroyed, or locks what both touch. (A
// ZeroMQ socket may go from thread to thread when one begins or ends in
// between.)
class Pulse {
 public:
  explicit Pulse(std::function<void()> beat);

 private:
  std::jthread thread_;
};

}  // namespace gt::net
