// Where an unplaced line runs. Its operands are somewhere, and what follows
// will mostly want its results beside them. So a line stays where least has to
// be copied, though another worker would be done with it sooner: unless that
// work, and what else waited beside these values before, pays for the copies,
// there and back. So a branch of small lines that soon joins again stays.
//
// A worker that is lost is given nothing: what it alone had is copied from it
// in vain, and what needs that fails where it runs.
//
// It decides from where values are and what workers have to do, and changes
// neither.
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

  struct Choice {
    uint32_t worker = 0;
    bool weighs = false;  // then Home::waited of its operands is now:
    uint64_t waited = 0;
  };
  Choice place(const Route& route) const;
  // Where a value is made that nobody reads yet.
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
