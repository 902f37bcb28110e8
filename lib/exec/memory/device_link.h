// A link moves bytes from the device of one worker to that of another without
// going through the host, as NCCL does between GPUs. A Device makes its links
// (device.h), of several kinds if it can; comm/direct_moves.h uses them.
//
// The devices that a link joins are its members, numbered from 0. All members
// must begin the operations of all members in one order, and the members of a
// group those of the group in one order. No call waits: an operation is done
// once is_done() says so, and no other may begin before that. An Error from
// is_done() is final: after it only cancel() may be called.
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
// that it gives the device.
class DeviceLink {
 public:
  // Bytes on the device to send to a member or to receive from it.
  struct Move {
    unsigned member = 0;
    void* data = nullptr;
    size_t bytes = 0;  // more than 0
  };
  // Values on the device that the members of a group add up.
  struct Sum {
    // 0: all members; n: the group made by the n-th split()
    unsigned group = 0;
    Dtype dtype = Dtype::kF32;
    const void* data = nullptr;
    void* result = nullptr;  // must not overlap data
    // How many of the sums each member of the group gets, in ascending order of
    // members; the shares follow each other in the sums. Empty: each member
    // gets all sums.
    std::vector<size_t> parts;
    size_t count = 0;  // number of values, more than 0
  };

  DeviceLink() = default;
  DeviceLink(const DeviceLink&) = delete;
  DeviceLink& operator=(const DeviceLink&) = delete;
  virtual ~DeviceLink() = default;

  // kind() and device() return words without blanks and commas. Devices can be
  // linked if their links have the same kind, such as "nccl-2.28.9"; what
  // follows an @ in it is not shown to people. Every device in the world has a
  // device() of its own, and a link may have each device only once.
  virtual std::string kind() const = 0;
  virtual std::string device() const = 0;

  // Makes the id by which the members find each other: one member makes it, and
  // all join with it.
  virtual Result<std::string> make_id() = 0;
  // Begins to join as member number `member`. `devices` are the device() words
  // of all members.
  virtual Status join(std::string_view id, std::span<const std::string> devices,
                      unsigned member) = 0;
  // Begins to send and receive, all at once, after the work that the device was
  // given so far. Each send must have a receive of as many bytes at the other
  // member; several between the same two members match in order.
  virtual Status move(std::span<const Move> sends,
                      std::span<const Move> receives) = 0;
  // Returns whether the last operation is done.
  virtual Result<bool> is_done() = 0;
  // Returns a number that grows while the operation makes progress, as far as
  // the link can tell.
  virtual uint64_t progress() const { return 0; }
  // Ends every operation and the link. Memory that they used may be reused
  // afterwards.
  virtual void cancel() = 0;
  // Begins to leave the link. All members must do so, with no operation under
  // way.
  virtual Status leave() = 0;

  // True if the link can add values; if not, split() and add() only return
  // errors.
  virtual bool adds() const { return false; }
  // Begins to make groups of members whose values are added within the group.
  // All members must begin this at once, with no other operation under way,
  // each with the members of its own group, ascending, or with none.
  virtual Status split(std::span<const unsigned> /*group*/) {
    return Error{"it adds nothing up"};
  }
  // Begins to add the values of the group's members, after the work that the
  // device was given so far, in an order that the link chooses. Error, before
  // it has begun: a float type that the link does not know.
  virtual Status add(const Sum& /*sum*/) { return Error{"it adds nothing up"}; }
};

}  // namespace gt::exec
