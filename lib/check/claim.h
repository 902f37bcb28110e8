// A claim, #type= and #spec=, held against what was inferred: it may add axes,
// say which dimension a V shards, weaken Si to V, and make a V a pending sum.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "check/spmd_type.h"

namespace gt {

struct ClaimIn {
  std::string type;
  std::string spec;
  const AxisNames& names;
  const std::vector<Axis>& within;  // axes along which the ranks differ
  size_t dims;
  bool is_source;  // declares: what is R may be any but cut otherwise
  bool is_local_mode;
  std::function<bool(const Axis&)> is_local;
};

// Takes the claim over into `type`; or leaves it, and says what contradicts.
bool claim(const ClaimIn& in, SpmdType& type, std::vector<Kinded>& problems);

class Claimant {
 public:
  Claimant(const ClaimIn& in, const Claim& claim, SpmdType& type,
           std::vector<Kinded>& problems)
      : in_(in), claim_(claim), type_(type), problems_(problems) {}
  bool run();

 private:
  using Items = std::vector<std::pair<Axis, const Claim::Item*>>;

  bool fail(const char* kind, const Axis* axis, std::string message);
  bool check_dims(const Items& items);
  size_t dim_of(const Claim::Item& item) const;
  bool move(Items& items);
  bool claim_axis(const Axis& axis, const Claim::Item& item, SpmdType& made);
  bool expand(SpecEntry& entry);
  bool claim_spec(SpmdType& made);

  const ClaimIn& in_;
  const Claim& claim_;
  SpmdType& type_;
  std::vector<Kinded>& problems_;
};

}  // namespace gt
