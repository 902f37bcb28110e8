// The model of the machine by which times are estimated, in seconds: a
// computation takes its operations over `flops` plus the bytes that it reads
// and writes over `memory_bandwidth`; a message its latency plus its bytes over
// the link's bandwidth (the alpha-beta model). gt-shard reads the numbers from
// its config; these are the defaults.
#pragma once

namespace gt {

// One rank and its links; all ranks are alike.
struct Machine {
  double flops = 2e10;             // operations a second
  double memory_bandwidth = 1e10;  // bytes a second
  double bandwidth = 1e10;         // of a link, in bytes a second
  double latency = 2e-5;           // of a message, in seconds
  double memory = 0;               // in bytes; 0: no limit
};

}  // namespace gt
