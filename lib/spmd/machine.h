// What estimates of time are made from.
#pragma once

namespace gt {

// A rank and its links.
struct Machine {
  double flops = 2e10;             // a second
  double memory_bandwidth = 1e10;  // bytes a second
  double bandwidth = 1e10;         // of a link, bytes a second
  double latency = 2e-5;           // of a message, seconds
  double memory = 0;               // bytes; 0: no limit
};

}  // namespace gt
