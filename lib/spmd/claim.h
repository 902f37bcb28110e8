// A claim, #type= and #spec=, held against what was inferred: it may add axes,
// say which dimension a V shards, weaken Si to V, and make a V a pending sum.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmd/axis_names.h"

namespace gt {

// One statement of a type: "dp:S0", or all of #spec=.
struct Claim {
  struct Item {
    std::vector<Axis> axes;
    std::string name;
    char letter;
    int64_t dim = 0;  // of S
  };
  std::vector<Item> items;
  bool all = false;  // one letter for all axes, in items[0] without axes
  bool has_spec = false;
  std::vector<SpecEntry> spec;
};
struct Kinded {  // an error with its kind
  std::string kind;
  std::string axis;
  std::string message;
};
// Both texts may be empty. Problems: axis-unknown, no-mesh, overlap, spec-both.
bool parse_claim(std::string_view type, std::string_view spec,
                 const AxisNames& names, Claim& claim, Kinded& problem);

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
bool claim(const ClaimIn& in, Placement& type, std::vector<Kinded>& problems);

class Claimant {
 public:
  Claimant(const ClaimIn& in, const Claim& claim, Placement& type,
           std::vector<Kinded>& problems)
      : in_(in), claim_(claim), type_(type), problems_(problems) {}
  bool run();

 private:
  using Items = std::vector<std::pair<Axis, const Claim::Item*>>;

  bool fail(const char* kind, const Axis* axis, std::string message);
  bool check_dims(const Items& items);
  size_t dim_of(const Claim::Item& item) const;
  bool move(Items& items);
  bool claim_axis(const Axis& axis, const Claim::Item& item, Placement& made);
  bool expand(SpecEntry& entry);
  bool claim_spec(Placement& made);

  const ClaimIn& in_;
  const Claim& claim_;
  Placement& type_;
  std::vector<Kinded>& problems_;
};

}  // namespace gt
