// A link brings bytes from the device of one worker to that of another without
// the host between them, as NCCL does between GPUs. A Device makes it
// (device.h), of several kinds if it can; who uses it is comm/direct_moves.h.
//
// Those that a link joins are its members, with numbers from 0. What all of
// them begin, they begin in one order, and what some of them begin together,
// these do. Nothing here waits: what was begun is done once is_done() says so,
// before which nothing else is begun; and an Error of it is the link's last
// word, of which only cancel() is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stream/type.h"

namespace gt::exec {

// All calls come from the thread that uses the device, in order with the work
// that it gives it.
class DeviceLink {
 public:
  // Bytes of the device, for a member or from it.
  struct Move {
    unsigned member = 0;
    void* data = nullptr;
    size_t bytes = 0;  // more than 0
  };
  // Values of the device, which the members of a group add up.
  struct Sum {
    unsigned group = 0;  // 0: all members; else that of so many split() before
    Dtype dtype = Dtype::kF32;
    const void* data = nullptr;
    void* result = nullptr;  // apart from data
    // By member of the group, ascending: how many of the sums are its result,
    // those behind what members before it get. Empty: each gets them all.
    std::vector<size_t> parts;
    size_t count = 0;  // of the values, more than 0
  };

  DeviceLink() = default;
  DeviceLink(const DeviceLink&) = delete;
  DeviceLink& operator=(const DeviceLink&) = delete;
  virtual ~DeviceLink() = default;

  // Words without blanks and commas. Devices are linked if their links are of
  // one kind, "nccl-2.28.9"; what is behind an @ of it is not for people. And
  // no device, of all that there are anywhere, has the word of another. A link
  // takes each device once.
  virtual std::string kind() const = 0;
  virtual std::string device() const = 0;

  // What the members need to find each other: one makes it, all join by it.
  virtual Result<std::string> make_id() = 0;
  // Begins to join, as one of the members, of which these are the devices.
  virtual Status join(std::string_view id, std::span<const std::string> devices,
                      unsigned member) = 0;
  // Begins to send and to receive, all at once, behind what the device was
  // given so far. Each send has its receive at the other member, of as many
  // bytes; several between two members are taken in their order.
  virtual Status move(std::span<const Move> sends,
                      std::span<const Move> receives) = 0;
  // Whether what was begun last is done.
  virtual Result<bool> is_done() = 0;
  // Grows while what was begun gets on, as far as the link knows.
  virtual uint64_t progress() const { return 0; }
  // Ends all that was begun, and the link; its memory may be used again.
  virtual void cancel() = 0;
  // Begins to leave, once nothing is under way and all members do so.
  virtual Status leave() = 0;

  // Whether it adds up values; without that there is nothing of these two.
  virtual bool adds() const { return false; }
  // Begins to make groups of members that add up their values by themselves.
  // All members begin it at once, while none has begun anything else, each with
  // the members of its own group, ascending; or with none.
  virtual Status split(std::span<const unsigned> /*group*/) {
    return Error{"it adds nothing up"};
  }
  // Begins to add what the group's members give, behind what the device was
  // given so far, in an order of the link's own. Floats that it does not know
  // are an Error before it has begun.
  virtual Status add(const Sum& /*sum*/) { return Error{"it adds nothing up"}; }
};

}  // namespace gt::exec
