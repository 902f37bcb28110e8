// Chooses the worker of a line without ranks, when it is issued.
//
// A line that reads nothing which is anywhere yet goes to the worker with the
// least to do; if it is little work, to the one that read the last value of its
// result's name (Home::wanted_by).
//
// A line whose operands one worker alone holds stays there if what that worker
// was given to do since, together, takes no longer than a copy of the least
// size (kCopyCost): nobody else could begin sooner.
//
// Any other line first gets a base: of the workers that hold one of its
// operands, the one to which the least has to be copied. What reads its results
// will mostly want them beside these operands, so it stays at the base, though
// another worker might be done with it sooner; if each line went where it is
// done soonest, a branch of small lines would be copied away, and back where it
// joins. The line moves only if what is gained is more than the copies there
// and back cost and four copies of the least size besides. Gained is the time
// by which the line is done sooner, at most its own cost, and what lines that
// stayed beside these operands before have lost (Home::waited). It moves to the
// worker, among the holders and the least loaded, which is done with it first.
//
// Nothing is placed on a worker that is lost. What such a worker alone held is
// copied from it in vain, and what reads the copy fails where it runs.
//
// The placer reads homes and loads, and changes neither.
#pragma once

#include <cstdint>

#include "base/small_vector.h"
#include "route/homes.h"
#include "route/loads.h"
#include "route/route.h"

namespace gt::route {

class Placer {
 public:
  // Both outlive it.
  Placer(const Homes& homes, const Loads& loads)
      : homes_(homes), loads_(loads) {}

  // The chosen worker.
  struct Choice {
    uint32_t worker = 0;
    // True if base and another worker were compared. Then the caller must set
    // Home::waited of all operands to `waited`, in nanoseconds.
    bool weighs = false;
    uint64_t waited = 0;
  };
  // Returns where the line of that route is to run now. Not for print, save and
  // free, which run where their operand is.
  Choice place(const Route& route) const;
  // Returns where a value that no line reads yet is to be made.
  uint32_t place_alone(HomeId id) const;

 private:
  using Workers = SmallVector<uint32_t, 8>;

  uint32_t place_new(const Route& route) const;
  Choice choose(const Route& route) const;
  uint32_t nearest(const Route& route, const Workers& near) const;
  uint64_t missing_on(uint32_t worker, const Route& route) const;
  uint64_t finish_on(uint32_t worker, const Route& route) const;

  const Homes& homes_;
  const Loads& loads_;
};

}  // namespace gt::route
