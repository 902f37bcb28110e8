// A value of a session: a register of its program. Owned by those who hold it
// (gt_retain, gt_release); all but the count is guarded by the session's lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "client/call_types.h"
#include "client/names.h"
#include "client/reach.h"

namespace gt::client {
class Session;
inline constexpr uint32_t kNoLeaf = UINT32_MAX;
}  // namespace gt::client

struct gt_value {
  std::atomic<uint32_t> owners{1};
  gt::client::Session* session = nullptr;  // which outlives it
  gt::client::Names::Name name;
  gt::client::TypeId type = gt::client::CallTable::kNoType;
  const gt_type* shown = nullptr;  // the same for the user
  gt::client::Reach reach = gt::client::Reaches::kNone;
  gt::client::LeafId leaf = gt::client::kNoLeaf;  // if it requires a gradient
  gt_value* gradient = nullptr;                   // owned
  // When it was made, last bound, and last given another name (0: never), by
  // Session::serial_. A bound that is not made: it was changed in place.
  uint64_t made = 0, bound = 0, renamed = 0;
  bool has_file = false;  // its bytes travel in a file (Freight::was_sent)
  // Neighbours among the session's values.
  gt_value* before = nullptr;
  gt_value* after = nullptr;
};
