#include "serve/meter.h"

#include <utility>

#include "program/costs.h"

namespace gt::serve {

uint64_t Meter::bytes_of(const WalkedPart& part) const {
  return part.stamp.type == kNoType ? 0
                                    : walker_.type(part.stamp.type).bytes() + 1;
}

void Meter::read(const Line& line) {
  cost_ = 0;
  walker_.read(
      line, [this](const Call& call) { cost_ += line_cost(call); }, line_);
  if (std::exchange(forgotten_, walker_.forgotten()) != forgotten_) {
    held_.clear();
    bytes_ = names_ = 0;
  }
  if (cost_ == 0) {  // it crosses ranks, prints or saves
    for (const WalkedPart& part : line_.reads) {
      cost_ += copy_cost(bytes_of(part)) - kCopyCost;
    }
  }
  grown_bytes_ = grown_names_ = 0;
  for (const WalkedPart& part : line_.writes) {
    if (part.symbol >= held_.size()) held_.resize(part.symbol + size_t{1});
    const uint64_t before = held_[part.symbol];
    const uint64_t after = bytes_of(part);
    grown_names_ += uint64_t{after > 0} - uint64_t{before > 0};
    grown_bytes_ +=
        (after - uint64_t{after > 0}) - (before - uint64_t{before > 0});
  }
}

bool Meter::exceeds(const Quota& quota) const {
  return (bytes_after() > quota.bytes && bytes_after() > bytes_) ||
         (names_after() > quota.names && names_after() > names_);
}

void Meter::bind(bool failed) {
  if (failed) {
    for (WalkedPart& part : line_.writes) part.stamp.type = kNoType;
  }
  for (const WalkedPart& part : line_.writes) {
    uint64_t& held = held_[part.symbol];
    const uint64_t after = bytes_of(part);
    names_ += uint64_t{after > 0} - uint64_t{held > 0};
    bytes_ += (after - uint64_t{after > 0}) - (held - uint64_t{held > 0});
    held = after;
  }
  walker_.bind(line_);
}

}  // namespace gt::serve
