// The model of the machine by which times are estimated, in seconds. A
// computation takes its operations divided by `flops`, plus the bytes that it
// reads and writes divided by `memory_bandwidth`. A message takes its latency
// plus its bytes divided by the link's bandwidth (the alpha-beta model).
// gt-shard reads the numbers from its config, the null backend from --pace;
// these are the defaults.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gt {

// One rank and its links; all ranks are alike.
struct Machine {
  double flops = 2e10;             // operations a second
  double memory_bandwidth = 1e10;  // bytes a second
  double bandwidth = 1e10;         // of a link, in bytes a second
  double latency = 2e-5;           // of a message, in seconds
  double memory = 0;               // in bytes; 0: no limit
};

// A number of the machine that users may set, by its key.
struct MachineFigure {
  std::string_view key;
  std::string_view what;  // "bytes a second, such as 1e10"
  double Machine::*field;
};
std::span<const MachineFigure> machine_figures();
// Returns the figure of that key; null if there is none.
const MachineFigure* find_machine_figure(std::string_view key);
// Reads a figure's value. Returns false unless it is a finite number above 0.
bool read_machine_figure(std::string_view text, double& value);

// Reads "flops=1e12,latency=1e-5"; a figure that is not named keeps its
// default. Error: what was expected and what came.
Result<Machine> parse_machine(std::string_view text);

// Returns the seconds of a computation with `flops` operations that reads and
// writes `bytes` bytes.
inline double compute_seconds(const Machine& machine, double flops,
                              double bytes) {
  return flops / machine.flops + bytes / machine.memory_bandwidth;
}
// Returns the seconds of a message of `bytes` bytes.
inline double message_seconds(const Machine& machine, double bytes) {
  return machine.latency + bytes / machine.bandwidth;
}

}  // namespace gt
