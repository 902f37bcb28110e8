// What the events of a timeline are in a training step, run by run, and for
// whom its workers waited in between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "log/timeline.h"

namespace gt::log {

class Steps {
 public:
  // Neighbouring events of a lane that are of one pass and one microbatch.
  struct Run {
    uint64_t start, end;
    uint32_t lane;
    uint32_t mb;  // a word of the timeline, or kNobody
    Pass pass;
  };
  // A time in which a lane of compute was idle before an event.
  struct Wait {
    uint64_t start, end;
    uint32_t lane;
    // A lane of the worker that made what the event reads; or kNobody: what it
    // reads was there, but not its line.
    uint32_t maker;
    uint32_t event;
  };

  // The timeline is finished, and outlives this.
  explicit Steps(const Timeline& timeline);

  // By lane, in the order of their starts. There are runs if a line has a note
  // of a microbatch or a gradient, and waits if all lines were chosen.
  const std::vector<Run>& runs() const { return runs_; }
  const std::vector<Wait>& waits() const { return waits_; }
  // Returns "forward 3"; "" for no pass, or if there are no runs.
  std::string label(Pass pass, uint32_t mb) const;
  // Returns "F3".
  std::string brief(const Run& run) const;
  // Returns "waits for worker 1".
  std::string label(const Wait& wait) const;

 private:
  void find_runs();
  void find_waits();
  void add_wait(uint32_t lane, uint64_t since, uint32_t event, uint32_t maker,
                uint32_t foreign);
  const std::string& rank_of(uint32_t event) const {
    return timeline_.lanes()[timeline_.events()[event].lane].rank;
  }

  const Timeline& timeline_;
  std::vector<Run> runs_;
  std::vector<Wait> waits_;
};

}  // namespace gt::log
