// gt_value: a value of a session, which is a register of its program. Its
// owners hold it by gt_retain() and gt_release(). The session's lock guards all
// members but the count of owners.
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
  // The session, which outlives the value.
  gt::client::Session* session = nullptr;
  gt::client::Names::Name name;
  gt::client::TypeId type = gt::client::CallTable::kNoType;
  const gt_type* shown = nullptr;  // the type in the form of gt/c.h
  // The leaves that went into the value.
  gt::client::Reach reach = gt::client::Reaches::kNone;
  // The value's number if it requires a gradient.
  gt::client::LeafId leaf = gt::client::kNoLeaf;
  gt_value* gradient = nullptr;  // owned by this value
  // The numbers (Session::serial_) of the events when the value was made, last
  // bound, and last renamed (0: never). If `bound` differs from `made`, the
  // value was changed in place.
  uint64_t made = 0, bound = 0, renamed = 0;
  bool has_file =
      false;  // its bytes travel in a file, see ValueFiles::was_sent()
  // The neighbours in the list of the session's values.
  gt_value* before = nullptr;
  gt_value* after = nullptr;
};
