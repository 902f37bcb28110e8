// The model of the machine by which times are estimated, in seconds. A
// computation takes its operations divided by `flops`, plus the bytes that it
// reads and writes divided by `memory_bandwidth`. A message takes its link's
// latency plus its bytes divided by the link's bandwidth (the alpha-beta
// model). Ranks that are near to each other, as the GPUs of a node are, may
// have a link of their own. gt-shard reads the numbers from its config, the
// null backend from --pace; these are the defaults.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gt {

struct Link {
  double bandwidth = 1e10;  // in bytes a second
  double latency = 2e-5;    // of a message, in seconds
};

// The link of ranks within a level, such as a node: the first `ranks` ranks are
// one node, the next ones another.
struct LinkLevel {
  std::string name;
  int64_t ranks = 0;
  Link link;
};

// One rank and its links; all ranks are alike.
struct Machine {
  double flops = 2e10;             // operations a second
  double memory_bandwidth = 1e10;  // bytes a second
  double bandwidth = 1e10;         // of a link
  double latency = 2e-5;           // of a message, in seconds
  double memory = 0;               // in bytes; 0: no limit
  // From the nearest ranks to the farthest; each has a multiple of the ranks of
  // the one before. `bandwidth` and `latency` are those between the last
  // level's.
  std::vector<LinkLevel> levels = {};
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

// Reads a figure of a level, by its key: ranks, bandwidth or latency. Error:
// what was expected and what came.
Status set_level_figure(Machine& machine, std::string_view level,
                        std::string_view key, std::string_view text);
// To be called when all are read. The level that has no ranks is what is beyond
// the others. Error: ranks that are no multiple of those of a smaller level.
Status settle_levels(Machine& machine);
// Reads "flops=1e12,latency=1e-5,node.ranks=8,node.bandwidth=4e11"; a figure
// that is not named keeps its default. Error: what was expected and what came.
Result<Machine> parse_machine(std::string_view text);

// Returns the seconds of a computation with `flops` operations that reads and
// writes `bytes` bytes.
inline double compute_seconds(const Machine& machine, double flops,
                              double bytes) {
  return flops / machine.flops + bytes / machine.memory_bandwidth;
}
// Returns the seconds of a message of `bytes` bytes.
inline double message_seconds(const Link& link, double bytes) {
  return link.latency + bytes / link.bandwidth;
}
// Returns the link between ranks that exchange something. is_within(n) says
// whether they are all among the same n: ranks 0 to n - 1, or n to 2 n - 1, ...
template <typename IsWithin>
Link link_of(const Machine& machine, const IsWithin& is_within) {
  for (const LinkLevel& level : machine.levels) {
    if (is_within(level.ranks)) return level.link;
  }
  return {machine.bandwidth, machine.latency};
}

}  // namespace gt
