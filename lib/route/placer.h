// Chooses the worker of a line without ranks, when it is issued.
//
// A line whose operands are not on any worker yet, or that has none, goes to
// the worker with the least to do; if it is little work, to the worker that
// read the last value of its result's name (ValueLocation::wanted_by).
//
// A line whose operands are on one worker alone stays there if all the work
// that the worker was given since takes no longer than a copy of the least size
// (kCopyCost): no other worker could begin sooner.
//
// Any other line first gets a base: of the workers that hold one of its
// operands, the one to which the least has to be copied. The lines that read
// its results will mostly want them beside these operands, so the line stays at
// the base even if another worker might be done with it sooner; if each line
// went where it is done soonest, a branch of small lines would be copied away,
// and back where it joins. The line moves only if the gain is greater than the
// cost of the copies there and back plus four copies of the least size. The
// gain is the time by which the line is done sooner, at most its own cost, plus
// the time that earlier lines lost by staying beside these operands
// (ValueLocation::waited). The line moves to the worker that is done with it
// first, among the holders and the least loaded worker.
//
// Nothing is placed on a worker that is lost. A value that such a worker alone
// held cannot be copied from it, and lines that read the copy fail where they
// run.
//
// The placer reads locations and loads, and changes neither.
#pragma once

#include <cstdint>

#include "base/small_vector.h"
#include "route/loads.h"
#include "route/route.h"
#include "route/value_locations.h"

namespace gt::route {

class Placer {
 public:
  // Both outlive it.
  Placer(const ValueLocations& locations, const Loads& loads)
      : locations_(locations), loads_(loads) {}

  // The chosen worker.
  struct Choice {
    uint32_t worker = 0;
    // True if base and another worker were compared. Then the caller must set
    // ValueLocation::waited of all operands to `waited`, in nanoseconds.
    bool weighs = false;
    uint64_t waited = 0;
  };
  // Returns where the line of that route is to run now. Not for print, save and
  // free, which run where their operand is.
  Choice place(const Route& route) const;
  // Returns where a value that no line reads yet is to be made.
  uint32_t place_alone(SymbolId id) const;

 private:
  using Workers = SmallVector<uint32_t, 8>;

  uint32_t place_new(const Route& route) const;
  Choice choose(const Route& route) const;
  uint32_t nearest(const Route& route, const Workers& near) const;
  uint64_t missing_on(uint32_t worker, const Route& route) const;
  uint64_t finish_on(uint32_t worker, const Route& route) const;

  const ValueLocations& locations_;
  const Loads& loads_;
};

}  // namespace gt::route
